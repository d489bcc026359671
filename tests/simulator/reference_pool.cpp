#include "tests/simulator/reference_pool.h"

#include <algorithm>

namespace stowage::reference {

std::int64_t Pool::rounded(std::int64_t bytes, PinnedRounding rounding) {
  if (rounding == PinnedRounding::slab) return bytes + (256 - bytes % 256) % 256;
  if (rounding == PinnedRounding::exact || bytes == 0) return bytes;
  std::int64_t size = 1;
  while (size < bytes) size += size;
  return size;
}

bool Pool::ask(std::int64_t bytes) {
  if (bytes == 0) return true;
  Bucket& bucket = buckets_[size(bytes)];
  ++bucket.accesses;
  bucket.last = ++clock_;
  if (transfer_.max_buckets == 0) return false;
  if (transfer_.pinned_max && pinned_ + size(bytes) > transfer_.pinned_max->value) return false;
  if (!bucket.resident && !admit(bucket)) return false;
  if (pinned_ + size(bytes) > host_.pinned_limit.value) {
    if (!bucket.used) bucket.resident = false;
    return false;
  }
  pinned_ += size(bytes);
  bucket.used = true;
  ++bucket.granted;
  return true;
}

bool Pool::admit(Bucket& bucket) {
  Bucket* lowest = nullptr;
  std::int64_t residents = 0;
  for (auto& [size, each] : buckets_) {
    if (!each.resident) continue;
    ++residents;
    if (!lowest || less(each, *lowest)) lowest = &each;
  }
  if (transfer_.max_buckets && residents >= *transfer_.max_buckets) {
    if (!less(*lowest, bucket)) return false;
    lowest->resident = false;
  }
  bucket.resident = true;
  return true;
}

// By accesses, then the share of them that was granted, then the last access.
bool Pool::less(const Bucket& a, const Bucket& b) {
  if (a.accesses != b.accesses) return a.accesses < b.accesses;
  if (a.granted != b.granted) return a.granted < b.granted;
  return a.last < b.last;
}

}  // namespace stowage::reference
