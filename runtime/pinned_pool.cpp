#include "runtime/pinned_pool.h"

#include <cstdlib>
#include <utility>

#include "runtime/memory_pool.h"
#include "traces/error.h"

namespace stowage {

void* aligned_memory(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

HostMemorySource system_memory() {
  return {aligned_memory, [](void* data) { std::free(data); }};
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_),
      owner_(other.owner_),
      is_new_(other.is_new_) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owner_, other.owner_);
  std::swap(is_new_, other.is_new_);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (pool_) pool_->give_back(*this);
}

void HostBuffer::mark_pending() const {
  if (!pool_ || owner_ != Owner::pool) return;
  const std::lock_guard lock(pool_->mutex_);
  pool_->books_->mark_pending(bytes_);
}

PinnedPool::PinnedPool(HostMemorySource pinned, const HostMemory& host, HostMemorySource pageable)
    : source_(std::move(pinned)), pageable_(std::move(pageable)), host_(host), books_(host.pinned_rounding) {}

PinnedPool::~PinnedPool() {
  drop_unused();
}

void PinnedPool::begin_step(const PinnedCaps& caps) {
  const std::lock_guard lock(mutex_);
  books_->set_fixed(fixed_);
  books_->set_limits({caps.buckets, caps.bytes, host_.pinned_limit});
  if (caps.bytes && fixed_ > *caps.bytes) throw MemoryRefused({Space::host, fixed_, {}, *caps.bytes});
}

HostBuffer PinnedPool::pin(Bytes bytes) {
  if (bytes == Bytes{}) return {};
  const std::lock_guard lock(mutex_);
  const Bytes size = books_->rounded(bytes);
  if (fixed_ + size > host_.pinned_limit)
    throw MemoryRefused({Space::host, size, fixed_, host_.pinned_limit});
  std::byte* const data = take(size);
  if (!data) throw MemoryRefused({Space::host, size, fixed_, fixed_});  // no more than there is
  fixed_ += size;
  return lend(data, bytes, HostBuffer::Owner::fixed, true);
}

HostBuffer PinnedPool::check_out(Bytes bytes) {
  if (bytes == Bytes{}) return {};
  const std::lock_guard lock(mutex_);
  const Bytes size = books_->rounded(bytes);
  const PinnedSource source = books_->check_out(bytes);
  if (source == PinnedSource::idle || source == PinnedSource::cached)
    return lend(take_unused(size), bytes, HostBuffer::Owner::pool, false);
  if (source == PinnedSource::pinned) {
    if (std::byte* const data = take(size)) return lend(data, bytes, HostBuffer::Owner::pool, true);
    books_->take_back(bytes);
  }
  auto* const data = static_cast<std::byte*>(pageable_.take(static_cast<std::size_t>(bytes.value)));
  if (!data) throw MemoryRefused({Space::host, bytes, live_, live_});
  return lend(data, bytes, HostBuffer::Owner::system, false);
}

void PinnedPool::flush() {
  const std::lock_guard lock(mutex_);
  for (const auto& [size, count] : books_->flush())
    for (std::int64_t i = 0; i < count; ++i) source_.give_back(take_unused(size));
}

void PinnedPool::start_anew() {
  const std::lock_guard lock(mutex_);
  for (const PinnedBucket& bucket : books_->report().buckets)
    if (bucket.in_use > 0) throw DefectError("a pool of host buffers starts anew while some are in use");
  drop_unused();
  books_.emplace(host_.pinned_rounding);
}

PinnedReport PinnedPool::report() const {
  const std::lock_guard lock(mutex_);
  return books_->report();
}

Bytes PinnedPool::live() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

std::byte* PinnedPool::take(Bytes size) {
  return static_cast<std::byte*>(source_.take(static_cast<std::size_t>(size.value)));
}

std::byte* PinnedPool::take_unused(Bytes size) {
  std::vector<std::byte*>& unused = unused_[size];
  std::byte* const data = unused.back();
  unused.pop_back();
  return data;
}

HostBuffer PinnedPool::lend(std::byte* data, Bytes bytes, HostBuffer::Owner owner, bool is_new) {
  live_ += bytes;
  return {this, data, bytes, owner, is_new};
}

void PinnedPool::give_back(const HostBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  live_ -= buffer.bytes_;
  switch (buffer.owner_) {
    case HostBuffer::Owner::fixed:
      fixed_ -= books_->rounded(buffer.bytes_);
      return source_.give_back(buffer.data_);
    case HostBuffer::Owner::pool:
      books_->give_back(buffer.bytes_);
      return unused_[books_->rounded(buffer.bytes_)].push_back(buffer.data_);
    case HostBuffer::Owner::system:
      return pageable_.give_back(buffer.data_);
  }
}

void PinnedPool::drop_unused() {
  for (const auto& [size, all] : unused_)
    for (std::byte* data : all) source_.give_back(data);
  unused_.clear();
}

}  // namespace stowage
