#include "simulator/caching_arena.h"

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "simulator/block_list.h"
#include "simulator/levels.h"
#include "simulator/step_times.h"

namespace stowage {
namespace {

constexpr std::int64_t kibi = 1024, mebi = 1024 * kibi;
constexpr std::int64_t grain = 512;           // of sizes
constexpr std::int64_t largest_small = mebi;  // request of the small pool
constexpr std::int64_t small_segment = 2 * mebi;
constexpr std::int64_t large_segment = 20 * mebi;
constexpr std::int64_t least_own_segment = 10 * mebi;
constexpr std::int64_t own_segment_step = 2 * mebi;
constexpr std::int64_t largest_request = std::int64_t{1} << 60;
constexpr std::int64_t endless = std::int64_t{1} << 61;  // addresses of a segment that expands

constexpr std::int64_t round_up(std::int64_t size, std::int64_t step) {
  return (size + step - 1) / step * step;
}

// A free block by size, then address.
struct FreeBlock {
  std::int64_t size, begin;
  BlockId id;

  bool operator<(const FreeBlock& other) const {
    return std::tie(size, begin) < std::tie(other.size, other.begin);
  }
};

struct UnmappedBlock {
  std::int64_t begin;
  BlockId id;

  bool operator<(const UnmappedBlock& other) const { return begin < other.begin; }
};

// Of one stream and one class of sizes. Addresses are its own.
struct Pool {
  Pool(bool small, std::pmr::memory_resource* nodes) : small(small), free(nodes), unmapped(nodes) {}

  std::int64_t page() const { return small ? small_segment : large_segment; }

  bool small;
  std::pmr::set<FreeBlock> free;
  std::pmr::set<UnmappedBlock> unmapped;
  std::int64_t end = 0;  // of all segments that there ever were
};

// A block that another stream used last: it returns at the first allocation that is not before `from`.
struct Waiting {
  Nanos from;
  std::uint64_t sequence;
  BlockId block;

  bool operator<(const Waiting& other) const {  // for a heap with the first at the top
    return std::tie(from, sequence) > std::tie(other.from, other.sequence);
  }
};

struct Handed {
  Bytes requested;
  std::optional<BlockId> block;  // absent: of no bytes
  std::uint32_t stream = 0;
};

}  // namespace

class CachingArena::Blocks {
 public:
  Blocks(Bytes budget, const ArenaOptions& options) : options_(options) { reset(budget); }

  void reset(Bytes budget) {
    budget_ = budget.value;
    retries_ = 0;
    live_ = allocated_ = reserved_ = 0;
    pools_.clear();
    blocks_.clear();
    waiting_.clear();
    handed_.clear();
  }

  bool allocate(const ArenaRequest& request, Nanos at);
  void free(std::uint32_t buffer, std::uint32_t stream, Nanos at);
  ArenaLevels levels() const { return {{live_}, {allocated_}, {reserved_}}; }
  std::int64_t retries() const { return retries_; }
  std::optional<std::int64_t> address(std::uint32_t buffer) const {
    const std::optional<BlockId> block = handed_[buffer].block;
    return block ? std::optional(blocks_[*block].begin) : std::nullopt;
  }
  Bytes largest_free() const {
    std::int64_t largest = 0;
    for (const Pool& pool : pools_)
      if (!pool.free.empty()) largest = std::max(largest, pool.free.rbegin()->size);
    return {largest};
  }

 private:
  std::uint32_t pool_of(std::uint32_t stream, bool small) {
    while (pools_.size() < 2 * (stream + std::size_t{1}))
      pools_.emplace_back(pools_.size() % 2 == 0, &nodes_);
    return 2 * stream + (small ? 0 : 1);
  }

  std::optional<BlockId> take_cached(std::uint32_t pool, std::int64_t size);
  std::optional<BlockId> take_new(std::uint32_t pool, std::int64_t size) {
    return options_.expandable_segments ? take_pages(pool, size) : take_segment(pool, size);
  }
  std::optional<BlockId> take_segment(std::uint32_t pool, std::int64_t size);
  void give_back_rest(BlockId id, std::int64_t size);

  std::optional<BlockId> take_pages(std::uint32_t pool, std::int64_t size);
  BlockId room_for(std::uint32_t pool, std::int64_t size);
  std::optional<BlockId> map(BlockId id, std::int64_t size);
  void unmap_pages(BlockId id);

  BlockId settle(BlockId id, BlockState state);
  void put(BlockId id);
  void take_out(BlockId id);
  void make_free(BlockId id);
  void return_passed(Nanos at);
  void release_cached();
  void release(std::uint32_t pool);

  const ArenaOptions options_;
  std::int64_t budget_ = 0, retries_ = 0;
  std::int64_t live_ = 0, allocated_ = 0, reserved_ = 0;
  std::pmr::unsynchronized_pool_resource nodes_;
  std::vector<Pool> pools_;  // small and large of each stream
  BlockList blocks_;
  std::vector<Waiting> waiting_;  // a heap
  std::uint64_t sequence_ = 0;    // of frees that wait
  std::vector<Handed> handed_;    // by buffer
};

bool CachingArena::Blocks::allocate(const ArenaRequest& request, Nanos at) {
  return_passed(at);
  if (request.buffer >= handed_.size()) handed_.resize(request.buffer + std::size_t{1});
  if (request.bytes.value > largest_request) refuse_sizes();
  handed_[request.buffer] = {request.bytes, {}, request.stream};
  if (request.bytes == Bytes{}) return true;
  const std::int64_t size = round_up(request.bytes.value, grain);
  const std::uint32_t pool = pool_of(request.stream, size <= largest_small);
  std::optional<BlockId> block = take_cached(pool, size);
  if (!block) block = take_new(pool, size);
  if (!block) {
    ++retries_;
    release_cached();
    block = take_new(pool, size);
  }
  if (!block) return false;
  give_back_rest(*block, size);
  blocks_[*block].state = BlockState::used;
  handed_[request.buffer].block = *block;
  live_ += request.bytes.value;
  allocated_ += blocks_[*block].size;
  return true;
}

void CachingArena::Blocks::free(std::uint32_t buffer, std::uint32_t stream, Nanos at) {
  const Handed handed = handed_[buffer];
  live_ -= handed.requested.value;
  if (!handed.block) return;
  if (stream == handed.stream || options_.record_stream_lag == Nanos{}) return make_free(*handed.block);
  blocks_[*handed.block].state = BlockState::waiting;
  const Nanos lag = options_.record_stream_lag;
  waiting_.push_back({at > never - lag ? never : at + lag, sequence_++, *handed.block});
  std::push_heap(waiting_.begin(), waiting_.end());
}

// The smallest that is large enough. Where segments expand, a block before unmapped addresses counts as large
// as it may become, and is passed over for one of a fixed size.
std::optional<BlockId> CachingArena::Blocks::take_cached(std::uint32_t pool, std::int64_t size) {
  const auto& free = pools_[pool].free;
  auto found = free.lower_bound({size, 0, {}});
  if (found == free.end()) return {};
  const auto room = [&](const FreeBlock& block) {
    const std::optional<BlockId> after = blocks_[block.id].after;
    const bool grows = after && blocks_[*after].state == BlockState::unmapped;
    return block.size + (grows ? blocks_[*after].size : 0);
  };
  if (options_.expandable_segments)
    for (auto next = std::next(found); next != free.end() && room(*next) < room(*found); ++next) found = next;
  const BlockId id = found->id;
  take_out(id);
  return id;
}

std::optional<BlockId> CachingArena::Blocks::take_segment(std::uint32_t pool, std::int64_t size) {
  const std::int64_t taken = size <= largest_small      ? small_segment
                             : size < least_own_segment ? large_segment
                                                        : round_up(size, own_segment_step);
  if (taken > budget_ - reserved_) return {};
  reserved_ += taken;
  Pool& of = pools_[pool];
  const BlockId id = blocks_.add({of.end, taken, {}, {}, pool, BlockState::free});
  of.end += taken;
  return id;
}

void CachingArena::Blocks::give_back_rest(BlockId id, std::int64_t size) {
  const std::int64_t rest = blocks_[id].size - size;
  const bool all = options_.expandable_segments || pools_[blocks_[id].pool].small;
  if (all ? rest >= grain : rest > largest_small) put(blocks_.cut(id, size));
}

// From the lowest address where free and unmapped blocks in a row are large enough; their pages are mapped.
std::optional<BlockId> CachingArena::Blocks::take_pages(std::uint32_t pool, std::int64_t size) {
  std::optional<BlockId> block = room_for(pool, size);
  if (blocks_[*block].state == BlockState::unmapped)
    block = map(*block, std::min(blocks_[*block].size, size));
  while (block && blocks_[*block].size < size) {
    const BlockId next = *blocks_[*block].after;
    block = map(next, std::min(blocks_[next].size, size - blocks_[*block].size));
  }
  if (block) take_out(*block);
  return block;
}

// The first free or unmapped block of such a row.
BlockId CachingArena::Blocks::room_for(std::uint32_t pool, std::int64_t size) {
  const auto open = [&](const std::optional<BlockId>& id) {
    return id && (blocks_[*id].state == BlockState::free || blocks_[*id].state == BlockState::unmapped);
  };
  for (const UnmappedBlock& unmapped : pools_[pool].unmapped) {
    std::optional<BlockId> first = unmapped.id;
    if (open(blocks_[*first].before)) first = blocks_[*first].before;
    std::int64_t room = 0;
    for (std::optional<BlockId> block = first; open(block) && room < size; block = blocks_[*block].after)
      room += blocks_[*block].size;
    if (room >= size) return *first;
  }
  const std::int64_t page = pools_[pool].page();
  const BlockId id =
      blocks_.add({pools_[pool].end, endless / page * page, {}, {}, pool, BlockState::unmapped});
  pools_[pool].end = blocks_[id].end();
  put(id);
  return id;
}

// Pages from the block's begin on, enough for `size`; the free block that they come to belong to. Absent: the
// budget forbids it.
std::optional<BlockId> CachingArena::Blocks::map(BlockId id, std::int64_t size) {
  const std::int64_t taken = round_up(size, pools_[blocks_[id].pool].page());
  if (taken > budget_ - reserved_) return {};
  reserved_ += taken;
  take_out(id);
  if (taken < blocks_[id].size) put(blocks_.cut(id, taken));
  return settle(id, BlockState::free);
}

// The whole pages of a free block return to the device.
void CachingArena::Blocks::unmap_pages(BlockId id) {
  const std::int64_t page = pools_[blocks_[id].pool].page();
  const std::int64_t begin = round_up(blocks_[id].begin, page), end = blocks_[id].end() / page * page;
  if (begin >= end) return;
  take_out(id);
  if (begin > blocks_[id].begin) {
    const BlockId rest = blocks_.cut(id, begin - blocks_[id].begin);
    put(id);
    id = rest;
  }
  if (end < blocks_[id].end()) put(blocks_.cut(id, end - begin));
  reserved_ -= end - begin;
  settle(id, BlockState::unmapped);
}

// A block that is in no set becomes free or unmapped, one with its neighbours of that state.
BlockId CachingArena::Blocks::settle(BlockId id, BlockState state) {
  blocks_[id].state = state;
  if (const auto after = blocks_[id].after; after && blocks_[*after].state == state) {
    take_out(*after);
    blocks_.join_after(id);
  }
  if (const auto before = blocks_[id].before; before && blocks_[*before].state == state) {
    take_out(*before);
    blocks_.join_after(*before);
    id = *before;
  }
  put(id);
  return id;
}

void CachingArena::Blocks::put(BlockId id) {
  const Block& block = blocks_[id];
  if (block.state == BlockState::free)
    pools_[block.pool].free.insert({block.size, block.begin, id});
  else
    pools_[block.pool].unmapped.insert({block.begin, id});
}

void CachingArena::Blocks::take_out(BlockId id) {
  const Block& block = blocks_[id];
  if (block.state == BlockState::free)
    pools_[block.pool].free.erase({block.size, block.begin, id});
  else
    pools_[block.pool].unmapped.erase({block.begin, id});
}

void CachingArena::Blocks::make_free(BlockId id) {
  allocated_ -= blocks_[id].size;
  settle(id, BlockState::free);
}

void CachingArena::Blocks::return_passed(Nanos at) {
  while (!waiting_.empty() && waiting_.front().from <= at) {
    std::pop_heap(waiting_.begin(), waiting_.end());
    make_free(waiting_.back().block);
    waiting_.pop_back();
  }
}

// The host waits for every stream first.
void CachingArena::Blocks::release_cached() {
  return_passed(never);
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) release(pool);
}

void CachingArena::Blocks::release(std::uint32_t pool) {
  std::vector<BlockId> cached;
  for (const FreeBlock& block : pools_[pool].free) cached.push_back(block.id);
  for (BlockId id : cached) {
    if (options_.expandable_segments) {
      unmap_pages(id);
    } else if (blocks_.alone(id)) {
      take_out(id);
      reserved_ -= blocks_[id].size;
      blocks_.remove(id);
    }
  }
}

CachingArena::CachingArena(Bytes budget, const ArenaOptions& options)
    : blocks_(std::make_unique<Blocks>(budget, options)) {}
CachingArena::~CachingArena() = default;

void CachingArena::reset(Bytes budget) {
  blocks_->reset(budget);
}

bool CachingArena::allocate(const ArenaRequest& request, Nanos at) {
  return blocks_->allocate(request, at);
}

void CachingArena::free(std::uint32_t buffer, std::uint32_t stream, Nanos at) {
  blocks_->free(buffer, stream, at);
}

ArenaLevels CachingArena::levels() const {
  return blocks_->levels();
}

std::int64_t CachingArena::retries() const {
  return blocks_->retries();
}

std::optional<std::int64_t> CachingArena::address(std::uint32_t buffer) const {
  return blocks_->address(buffer);
}

Bytes CachingArena::largest_free() const {
  return blocks_->largest_free();
}

}  // namespace stowage
