#include "simulator/block_pools.h"

namespace stowage {

void BlockPools::clear() {
  for (Pool& pool : pools_) {
    pool.free.clear();
    pool.unmapped.clear();
    pool.end = 0;
  }
  blocks_.clear();
}

PoolId BlockPools::pool_of(std::uint32_t stream, bool small) {
  while (pools_.size() < 2 * (stream + std::size_t{1})) pools_.emplace_back();
  return 2 * stream + (small ? 0 : 1);
}

ArenaBlockId BlockPools::add_segment(PoolId pool, std::int64_t size) {
  const std::int64_t begin = pools_[pool].end;
  pools_[pool].end += size;
  return blocks_.add({begin, size, {}, {}, pool, BlockState::free});
}

ArenaBlockId BlockPools::cut_front(ArenaBlockId id, std::int64_t size) {
  const ArenaBlockId rest = blocks_.cut(id, size);
  put(id);
  return rest;
}

ArenaBlockId BlockPools::settle(ArenaBlockId id, BlockState state) {
  blocks_[id].state = state;
  if (const auto after = blocks_[id].after; has_state(after, state)) {
    take_out(*after);
    blocks_.join_after(id);
  }
  if (const auto before = blocks_[id].before; has_state(before, state)) {
    take_out(*before);
    blocks_.join_after(*before);
    id = *before;
  }
  put(id);
  return id;
}

void BlockPools::put(ArenaBlockId id) {
  const ArenaBlock& block = blocks_[id];
  if (block.state == BlockState::free)
    pools_[block.pool].free.insert({block.size, block.begin, id});
  else
    pools_[block.pool].unmapped.insert({block.begin, id});
}

void BlockPools::take_out(ArenaBlockId id) {
  const ArenaBlock& block = blocks_[id];
  if (block.state == BlockState::free)
    pools_[block.pool].free.erase({block.size, block.begin, id});
  else
    pools_[block.pool].unmapped.erase({block.begin, id});
}

}  // namespace stowage
