// The blocks of an arena's segments, each between its neighbours.
//
//   segment  |  before  |  block  |  after  |        none before the first, none after the last
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stowage {

using ArenaBlockId = std::uint32_t;

enum class BlockState : std::uint8_t {
  used,
  waiting,  // for a stream to pass it
  free,
  unmapped,  // addresses without memory
};

struct ArenaBlock {
  std::int64_t begin = 0, size = 0;  // addresses are those of its pool
  std::optional<ArenaBlockId> before, after;
  std::uint32_t pool = 0;
  BlockState state = BlockState::free;

  std::int64_t end() const { return begin + size; }
};

// Ids of blocks that are gone are used again. Every operation takes constant time.
class BlockList {
 public:
  ArenaBlock& operator[](ArenaBlockId id) { return blocks_[id]; }
  const ArenaBlock& operator[](ArenaBlockId id) const { return blocks_[id]; }

  ArenaBlockId add(const ArenaBlock& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<ArenaBlockId>(blocks_.size() - 1);
    }
    const ArenaBlockId id = spare_.back();
    spare_.pop_back();
    blocks_[id] = block;
    return id;
  }
  void remove(ArenaBlockId id) { spare_.push_back(id); }
  void clear() {
    blocks_.clear();
    spare_.clear();
  }

  // Cuts a block in two of the same state: it keeps the first `size`, the rest is a new block after it.
  ArenaBlockId cut(ArenaBlockId id, std::int64_t size) {
    ArenaBlock rest = blocks_[id];
    rest.begin += size;
    rest.size -= size;
    rest.before = id;
    const ArenaBlockId after = add(rest);
    if (rest.after) blocks_[*rest.after].before = after;
    blocks_[id].size = size;
    blocks_[id].after = after;
    return after;
  }
  // Makes one of a block and the one after it, which is gone then.
  void join_after(ArenaBlockId id) {
    const ArenaBlockId gone = *blocks_[id].after;
    blocks_[id].size += blocks_[gone].size;
    blocks_[id].after = blocks_[gone].after;
    if (blocks_[id].after) blocks_[*blocks_[id].after].before = id;
    remove(gone);
  }

 private:
  std::vector<ArenaBlock> blocks_;
  std::vector<ArenaBlockId> spare_;
};

}  // namespace stowage
