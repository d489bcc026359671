#include "runtime/pinned_pool.h"

#include <algorithm>
#include <utility>

#include "plan/pinned_size.h"
#include "runtime/memory_pool.h"

namespace stowage {

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (pool_) pool_->give_back(data_, bytes_);
}

PinnedPool::PinnedPool(HostMemorySource source, PinnedRounding rounding, std::optional<Bytes> limit)
    : source_(std::move(source)), rounding_(rounding), limit_(limit) {}

PinnedPool::~PinnedPool() {
  release_unused();
}

HostBuffer PinnedPool::acquire(Bytes bytes) {
  if (bytes.value == 0) return {};
  const std::lock_guard lock(mutex_);
  const Bytes size = rounded(bytes);
  std::vector<std::byte*>& free = unused_[size];
  std::byte* data = nullptr;
  if (!free.empty()) {
    data = free.back();
    free.pop_back();
    ++counts_.reused;
  } else {
    data = make(size);
    ++counts_.made;
  }
  counts_.live += bytes;
  counts_.live_peak = std::max(counts_.live_peak, counts_.live);
  return {this, data, bytes};
}

std::byte* PinnedPool::make(Bytes size) {
  if (limit_ && counts_.resident + size > *limit_) drop_unused();
  void* const data = limit_ && counts_.resident + size > *limit_
                         ? nullptr
                         : source_.take(static_cast<std::size_t>(size.value));
  if (!data) throw MemoryRefused({Space::host, size, counts_.resident, limit_.value_or(counts_.resident)});
  counts_.resident += size;
  return static_cast<std::byte*>(data);
}

PinnedPool::Counts PinnedPool::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void PinnedPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  counts_.live_peak = counts_.live;
}

void PinnedPool::release_unused() {
  const std::lock_guard lock(mutex_);
  drop_unused();
}

void PinnedPool::drop_unused() {
  for (auto& [size, all] : unused_) {
    for (std::byte* data : all) source_.give_back(data);
    counts_.resident -= size * static_cast<std::int64_t>(all.size());
    all.clear();
  }
}

Bytes PinnedPool::rounded(Bytes bytes) const {
  return pinned_size(bytes, rounding_);
}

void PinnedPool::give_back(std::byte* data, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  counts_.live -= bytes;
  unused_[rounded(bytes)].push_back(data);
}

}  // namespace stowage
