#include "simulator/caching_arena.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "simulator/block_pools.h"
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

// A block that another stream used last: it returns at the first allocation that is not before `from`.
struct Waiting {
  Nanos from;
  std::uint64_t sequence;
  ArenaBlockId block;

  bool operator<(const Waiting& other) const {  // for a heap with the first at the top
    return std::tie(from, sequence) > std::tie(other.from, other.sequence);
  }
};

struct Handed {
  Bytes requested;
  std::optional<ArenaBlockId> block;  // absent: of no bytes
  std::uint32_t stream = 0;
};

}  // namespace

class CachingArena::Blocks {
 public:
  Blocks(Bytes budget, const ArenaOptions& options) : options_(options) { reset(budget); }

  void reset(Bytes budget);
  bool allocate(const ArenaRequest& request, Nanos at);
  void free(std::uint32_t buffer, std::uint32_t stream, Nanos at);
  ArenaLevels levels() const { return {{live_}, {allocated_}, {reserved_}}; }
  std::int64_t retries() const { return retries_; }
  Bytes largest_free() const;
  std::optional<std::int64_t> address(std::uint32_t buffer) const;

 private:
  std::int64_t page(PoolId pool) const { return pools_.small(pool) ? small_segment : large_segment; }

  std::optional<ArenaBlockId> take_cached(PoolId pool, std::int64_t size);
  std::optional<ArenaBlockId> take_new(PoolId pool, std::int64_t size) {
    return options_.expandable_segments ? take_pages(pool, size) : take_segment(pool, size);
  }
  std::optional<ArenaBlockId> take_segment(PoolId pool, std::int64_t size);
  void give_back_rest(ArenaBlockId id, std::int64_t size);

  std::optional<ArenaBlockId> take_pages(PoolId pool, std::int64_t size);
  ArenaBlockId room_for(PoolId pool, std::int64_t size);
  std::optional<ArenaBlockId> map(ArenaBlockId id, std::int64_t size);
  void unmap_pages(ArenaBlockId id);

  void make_free(ArenaBlockId id);
  void return_passed(Nanos at);
  void release_cached();

  const ArenaOptions options_;
  std::int64_t budget_ = 0, retries_ = 0;
  std::int64_t live_ = 0, allocated_ = 0, reserved_ = 0;
  BlockPools pools_;
  std::vector<Waiting> waiting_;  // a heap
  std::uint64_t sequence_ = 0;    // of frees that wait
  std::vector<Handed> handed_;    // by buffer
};

void CachingArena::Blocks::reset(Bytes budget) {
  budget_ = budget.value;
  retries_ = 0;
  live_ = allocated_ = reserved_ = 0;
  pools_.clear();
  waiting_.clear();
  handed_.clear();
}

Bytes CachingArena::Blocks::largest_free() const {
  std::int64_t largest = 0;
  for (PoolId pool = 0; pool < pools_.count(); ++pool)
    if (!pools_.free(pool).empty()) largest = std::max(largest, pools_.free(pool).last().size);
  return {largest};
}

std::optional<std::int64_t> CachingArena::Blocks::address(std::uint32_t buffer) const {
  const std::optional<ArenaBlockId> block = handed_[buffer].block;
  return block ? std::optional(pools_[*block].begin) : std::nullopt;
}

bool CachingArena::Blocks::allocate(const ArenaRequest& request, Nanos at) {
  return_passed(at);
  if (request.buffer >= handed_.size()) handed_.resize(request.buffer + std::size_t{1});
  if (request.bytes.value > largest_request) refuse_sizes();
  handed_[request.buffer] = {request.bytes, {}, request.stream};
  if (request.bytes == Bytes{}) return true;
  const std::int64_t size = round_up(request.bytes.value, grain);
  const PoolId pool = pools_.pool_of(request.stream, size <= largest_small);
  std::optional<ArenaBlockId> block = take_cached(pool, size);
  if (!block) block = take_new(pool, size);
  if (!block) {
    ++retries_;
    release_cached();
    block = take_new(pool, size);
  }
  if (!block) return false;
  give_back_rest(*block, size);
  pools_.mark(*block, BlockState::used);
  handed_[request.buffer].block = *block;
  live_ += request.bytes.value;
  allocated_ += pools_[*block].size;
  return true;
}

void CachingArena::Blocks::free(std::uint32_t buffer, std::uint32_t stream, Nanos at) {
  const Handed handed = handed_[buffer];
  live_ -= handed.requested.value;
  if (!handed.block) return;
  if (stream == handed.stream || options_.record_stream_lag == Nanos{}) return make_free(*handed.block);
  pools_.mark(*handed.block, BlockState::waiting);
  const Nanos lag = options_.record_stream_lag;
  waiting_.push_back({at > never - lag ? never : at + lag, sequence_++, *handed.block});
  std::push_heap(waiting_.begin(), waiting_.end());
}

// The smallest that is large enough. Where segments expand, a block before unmapped addresses counts as large
// as it may become, and is passed over for one of a fixed size.
std::optional<ArenaBlockId> CachingArena::Blocks::take_cached(PoolId pool, std::int64_t size) {
  const BlockPools::FreeBlocks& free = pools_.free(pool);
  auto found = free.lower_bound({size, 0, {}});
  if (found == free.end()) return {};
  const auto room = [&](const FreeBlock& block) {
    const std::optional<ArenaBlockId> after = pools_[block.id].after;
    return block.size + (pools_.has_state(after, BlockState::unmapped) ? pools_[*after].size : 0);
  };
  if (options_.expandable_segments)
    for (auto next = found; ++next != free.end() && room(*next) < room(*found);) found = next;
  const ArenaBlockId id = found->id;
  pools_.take_out(id);
  return id;
}

std::optional<ArenaBlockId> CachingArena::Blocks::take_segment(PoolId pool, std::int64_t size) {
  const std::int64_t taken = size <= largest_small      ? small_segment
                             : size < least_own_segment ? large_segment
                                                        : round_up(size, own_segment_step);
  if (taken > budget_ - reserved_) return {};
  reserved_ += taken;
  return pools_.add_segment(pool, taken);
}

void CachingArena::Blocks::give_back_rest(ArenaBlockId id, std::int64_t size) {
  const std::int64_t rest = pools_[id].size - size;
  const bool all = options_.expandable_segments || pools_.small(pools_[id].pool);
  if (all ? rest >= grain : rest > largest_small) pools_.cut(id, size);
}

// From the lowest address where free and unmapped blocks in a row are large enough; their pages are mapped.
std::optional<ArenaBlockId> CachingArena::Blocks::take_pages(PoolId pool, std::int64_t size) {
  std::optional<ArenaBlockId> block = room_for(pool, size);
  if (pools_.has_state(block, BlockState::unmapped)) block = map(*block, std::min(pools_[*block].size, size));
  while (block && pools_[*block].size < size) {
    const ArenaBlockId next = *pools_[*block].after;
    block = map(next, std::min(pools_[next].size, size - pools_[*block].size));
  }
  if (block) pools_.take_out(*block);
  return block;
}

// The first free or unmapped block of such a row.
ArenaBlockId CachingArena::Blocks::room_for(PoolId pool, std::int64_t size) {
  const auto open = [&](const std::optional<ArenaBlockId>& id) {
    return pools_.has_state(id, BlockState::free) || pools_.has_state(id, BlockState::unmapped);
  };
  for (const UnmappedBlock& unmapped : pools_.unmapped(pool)) {
    std::optional<ArenaBlockId> first = unmapped.id;
    if (open(pools_[*first].before)) first = pools_[*first].before;
    std::int64_t room = 0;
    for (std::optional<ArenaBlockId> block = first; open(block) && room < size; block = pools_[*block].after)
      room += pools_[*block].size;
    if (room >= size) return *first;
  }
  return pools_.settle(pools_.add_segment(pool, endless / page(pool) * page(pool)), BlockState::unmapped);
}

// Pages from the block's begin on, enough for `size`; the free block that they come to belong to. Absent: the
// budget forbids it.
std::optional<ArenaBlockId> CachingArena::Blocks::map(ArenaBlockId id, std::int64_t size) {
  const std::int64_t taken = round_up(size, page(pools_[id].pool));
  if (taken > budget_ - reserved_) return {};
  reserved_ += taken;
  pools_.take_out(id);
  if (taken < pools_[id].size) pools_.cut(id, taken);
  return pools_.settle(id, BlockState::free);
}

// The whole pages of a free block return to the device.
void CachingArena::Blocks::unmap_pages(ArenaBlockId id) {
  const std::int64_t step = page(pools_[id].pool);
  const std::int64_t begin = round_up(pools_[id].begin, step), end = pools_[id].end() / step * step;
  if (begin >= end) return;
  pools_.take_out(id);
  if (begin > pools_[id].begin) id = pools_.cut_front(id, begin - pools_[id].begin);
  if (end < pools_[id].end()) pools_.cut(id, end - begin);
  reserved_ -= end - begin;
  pools_.settle(id, BlockState::unmapped);
}

void CachingArena::Blocks::make_free(ArenaBlockId id) {
  allocated_ -= pools_[id].size;
  pools_.settle(id, BlockState::free);
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
  std::vector<ArenaBlockId> cached;
  for (PoolId pool = 0; pool < pools_.count(); ++pool)
    for (const FreeBlock& block : pools_.free(pool)) cached.push_back(block.id);
  for (ArenaBlockId id : cached) {
    if (options_.expandable_segments) {
      unmap_pages(id);
    } else if (pools_.alone(id)) {
      pools_.take_out(id);
      reserved_ -= pools_[id].size;
      pools_.remove_segment(id);
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
