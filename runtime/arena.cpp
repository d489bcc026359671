#include "runtime/arena.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stowage {
namespace {

// In front of every block. One cache line, so that what follows is aligned as the block is.
struct Header {
  std::size_t bytes;  // as asked for
  std::size_t block;  // with header, rounded to its class
};
constexpr std::size_t header_bytes = 64;

// Classes are narrow enough that a block is seldom more than its request needs, and wide enough that the
// sizes of one step meet again.
std::size_t block_size(std::size_t bytes) {
  const std::size_t whole = bytes + header_bytes;
  const std::size_t grain = whole <= (std::size_t{1} << 20) ? 512 : std::size_t{1} << 20;
  return (whole + grain - 1) / grain * grain;
}

Header* header_of(void* data) {
  return reinterpret_cast<Header*>(static_cast<std::byte*>(data) - header_bytes);
}

}  // namespace

// Also the allocator that LibTorch sees; it is one object with static lifetime.
struct Arena::Blocks final : c10::Allocator {
  mutable std::mutex mutex;
  std::unordered_map<std::size_t, std::vector<void*>> unused;  // by block size
  std::int64_t live = 0, peak = 0;
  std::optional<std::int64_t> budget;
  std::function<bool()> make_room;

  // LibTorch 2.6 and later.
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const data = take(bytes);
    return {data, data, &Blocks::drop, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Blocks::drop; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  void* take(std::size_t bytes);
  bool reserve(std::int64_t bytes);
  bool ask_for_room();
  void* find_unused(std::size_t block);
  void* from_system(std::size_t block);
  void release_unused();
  void give_back(void* data);
  void tell_profiler(void* data, std::int64_t bytes) const;
  static void drop(void* data) {
    if (data) Arena::instance().blocks_->give_back(data);
  }
};

void* Arena::Blocks::take(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const auto wanted = static_cast<std::int64_t>(bytes);
  while (!reserve(wanted)) {
    if (ask_for_room()) continue;
    const std::lock_guard lock(mutex);
    throw MemoryRefused({Space::device, {wanted}, {live}, {*budget}});
  }
  const std::size_t block = block_size(bytes);
  void* start = find_unused(block);
  if (!start) start = from_system(block);
  if (!start) {
    const std::lock_guard lock(mutex);
    live -= wanted;
    throw std::bad_alloc();
  }
  *static_cast<Header*>(start) = {bytes, block};
  void* const data = static_cast<std::byte*>(start) + header_bytes;
  tell_profiler(data, wanted);
  return data;
}

bool Arena::Blocks::reserve(std::int64_t bytes) {
  const std::lock_guard lock(mutex);
  if (budget && bytes > *budget - live) return false;
  live += bytes;
  peak = std::max(peak, live);
  return true;
}

bool Arena::Blocks::ask_for_room() {
  std::function<bool()> asked;
  {
    const std::lock_guard lock(mutex);
    asked = make_room;
  }
  return asked && asked();
}

void* Arena::Blocks::find_unused(std::size_t block) {
  const std::lock_guard lock(mutex);
  const auto found = unused.find(block);
  if (found == unused.end() || found->second.empty()) return nullptr;
  void* const start = found->second.back();
  found->second.pop_back();
  return start;
}

void* Arena::Blocks::from_system(std::size_t block) {
  void* start = std::aligned_alloc(header_bytes, block);
  if (start) return start;
  release_unused();
  return std::aligned_alloc(header_bytes, block);
}

void Arena::Blocks::release_unused() {
  const std::lock_guard lock(mutex);
  for (const auto& [block, starts] : unused)
    for (void* start : starts) std::free(start);
  unused.clear();
}

void Arena::Blocks::give_back(void* data) {
  Header* const header = header_of(data);
  const auto bytes = static_cast<std::int64_t>(header->bytes);
  {
    const std::lock_guard lock(mutex);
    live -= bytes;
    unused[header->block].push_back(header);
  }
  tell_profiler(data, -bytes);
}

// Where this thread is being recorded.
void Arena::Blocks::tell_profiler(void* data, std::int64_t bytes) const {
  if (!c10::memoryProfilingEnabled()) return;
  std::size_t total;
  {
    const std::lock_guard lock(mutex);
    total = static_cast<std::size_t>(live);
  }
  c10::reportMemoryUsageToProfiler(data, bytes, total, 0, c10::Device(c10::DeviceType::CPU));
}

Arena::Arena() : blocks_(new Blocks) {}

Arena& Arena::instance() {
  static Arena* const arena = new Arena;
  return *arena;
}

void Arena::install() {
  if (c10::GetCPUAllocator() != blocks_) c10::SetCPUAllocator(blocks_, /*priority=*/255);
}

void Arena::set_budget(std::optional<Bytes> budget) {
  const std::lock_guard lock(blocks_->mutex);
  blocks_->budget.reset();
  if (budget) blocks_->budget = budget->value;
}

void Arena::release_unused() {
  blocks_->release_unused();
}

c10::DataPtr Arena::allocate(Bytes bytes) {
  return blocks_->allocate(static_cast<std::size_t>(bytes.value));
}

Bytes Arena::live() const {
  const std::lock_guard lock(blocks_->mutex);
  return {blocks_->live};
}

Bytes Arena::take_peak() {
  const std::lock_guard lock(blocks_->mutex);
  return {std::exchange(blocks_->peak, blocks_->live)};
}

void Arena::on_shortage(std::function<bool()> make_room) {
  const std::lock_guard lock(blocks_->mutex);
  blocks_->make_room = std::move(make_room);
}

}  // namespace stowage
