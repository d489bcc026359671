// The blocks of an arena's segments, each between its neighbours.
//
//   segment  |  before  |  block  |  after  |        none before the first, none after the last
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stowage {

using BlockId = std::uint32_t;

enum class BlockState : std::uint8_t {
  used,
  waiting,  // for a stream to pass it
  free,
  unmapped,  // addresses without memory
};

struct Block {
  std::int64_t begin = 0, size = 0;  // addresses are those of its pool
  std::optional<BlockId> before, after;
  std::uint32_t pool = 0;
  BlockState state = BlockState::free;

  std::int64_t end() const { return begin + size; }
};

// Ids of blocks that are gone are used again. Every operation takes constant time.
class BlockList {
 public:
  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }

  BlockId add(const Block& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<BlockId>(blocks_.size() - 1);
    }
    const BlockId id = spare_.back();
    spare_.pop_back();
    blocks_[id] = block;
    return id;
  }
  void remove(BlockId id) { spare_.push_back(id); }
  void clear() {
    blocks_.clear();
    spare_.clear();
  }

  // Cuts a block in two of the same state: it keeps the first `size`, the rest is a new block after it.
  BlockId cut(BlockId id, std::int64_t size) {
    Block rest = blocks_[id];
    rest.begin += size;
    rest.size -= size;
    rest.before = id;
    const BlockId after = add(rest);
    if (rest.after) blocks_[*rest.after].before = after;
    blocks_[id].size = size;
    blocks_[id].after = after;
    return after;
  }
  // Makes one of a block and the one after it, which is gone then.
  void join_after(BlockId id) {
    const BlockId gone = *blocks_[id].after;
    blocks_[id].size += blocks_[gone].size;
    blocks_[id].after = blocks_[gone].after;
    if (blocks_[id].after) blocks_[*blocks_[id].after].before = id;
    remove(gone);
  }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> spare_;
};

}  // namespace stowage
