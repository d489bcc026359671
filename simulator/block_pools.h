// The blocks of a caching arena by stream and class of sizes, and those that are free or unmapped in order.
//
// A block is in the order of its state or, while it is worked on or in use, in none. Addresses are a pool's
// own.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "simulator/block_list.h"
#include "simulator/ordered_blocks.h"

namespace stowage {

using PoolId = std::uint32_t;

// By size, then address.
struct FreeBlock {
  std::int64_t size, begin;
  ArenaBlockId id;

  bool operator<(const FreeBlock& other) const {
    return std::tie(size, begin) < std::tie(other.size, other.begin);
  }
};

struct UnmappedBlock {
  std::int64_t begin;
  ArenaBlockId id;

  bool operator<(const UnmappedBlock& other) const { return begin < other.begin; }
};

class BlockPools {
 public:
  using FreeBlocks = OrderedBlocks<FreeBlock>;
  using UnmappedBlocks = OrderedBlocks<UnmappedBlock>;

  // Pools stay, and are empty.
  void clear();

  // Pools are those of streams 0, 1, ... as they are asked for; ids are dense.
  PoolId pool_of(std::uint32_t stream, bool small);
  std::size_t count() const { return pools_.size(); }
  bool small(PoolId pool) const { return pool % 2 == 0; }
  const FreeBlocks& free(PoolId pool) const { return pools_[pool].free; }
  const UnmappedBlocks& unmapped(PoolId pool) const { return pools_[pool].unmapped; }

  const ArenaBlock& operator[](ArenaBlockId id) const { return blocks_[id]; }
  bool has_state(const std::optional<ArenaBlockId>& id, BlockState state) const {
    return id && blocks_[*id].state == state;
  }
  bool alone(ArenaBlockId id) const { return !blocks_[id].before && !blocks_[id].after; }

  // A segment of one block, at addresses beyond all that the pool ever had. It is in no order.
  ArenaBlockId add_segment(PoolId pool, std::int64_t size);
  // A segment of one block, in no order, goes.
  void remove_segment(ArenaBlockId id) { blocks_.remove(id); }

  // Out of its order. Cost, here and below: logarithmic in the pool's blocks.
  void take_out(ArenaBlockId id);
  // Leaves a block that is in no order its first `size`; the rest goes into the order of the block's state.
  void cut(ArenaBlockId id, std::int64_t size) { put(blocks_.cut(id, size)); }
  // The same, but it is the rest that is in no order: it is returned.
  ArenaBlockId cut_front(ArenaBlockId id, std::int64_t size);
  // A block in no order is used, or waits.
  void mark(ArenaBlockId id, BlockState state) { blocks_[id].state = state; }
  // A block in no order becomes free or unmapped and one with its neighbours of that state; the block that it
  // is then.
  ArenaBlockId settle(ArenaBlockId id, BlockState state);

 private:
  struct Pool {
    FreeBlocks free;
    UnmappedBlocks unmapped;
    std::int64_t end = 0;  // of all segments that there ever were
  };

  void put(ArenaBlockId id);

  std::vector<Pool> pools_;  // small and large of each stream
  BlockList blocks_;
};

}  // namespace stowage
