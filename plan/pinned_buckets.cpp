#include "plan/pinned_buckets.h"

#include <algorithm>
#include <tuple>

namespace stowage {
namespace {

__extension__ using Wide = __int128;

// By (accesses, share of checkouts, last access).
bool scores_less(const PinnedBucket& a, const PinnedBucket& b) {
  const PinnedServed &x = a.counts.served, &y = b.counts.served;
  if (x.accesses != y.accesses) return x.accesses < y.accesses;
  const Wide left = static_cast<Wide>(x.checkouts) * y.accesses;
  const Wide right = static_cast<Wide>(y.checkouts) * x.accesses;
  return left != right ? left < right : a.last_access < b.last_access;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

PinnedCounts& PinnedCounts::operator+=(const PinnedCounts& other) {
  served.accesses += other.served.accesses;
  served.checkouts += other.served.checkouts;
  served.reuses += other.served.reuses;
  served.allocations += other.served.allocations;
  missed.disabled += other.missed.disabled;
  missed.cap += other.missed.cap;
  missed.bytes += other.missed.bytes;
  missed.failures += other.missed.failures;
  turnover.admissions += other.turnover.admissions;
  turnover.evictions += other.turnover.evictions;
  turnover.releases += other.turnover.releases;
  turnover.dropped_releases += other.turnover.dropped_releases;
  return *this;
}

double PinnedReport::checkout_rate() const {
  return ratio(totals.served.checkouts, totals.served.accesses);
}

double PinnedReport::reuse_rate() const {
  return ratio(totals.served.reuses, totals.served.checkouts);
}

void PinnedBuckets::set_limits(const PinnedLimits& limits) {
  limits_ = limits;
  const auto over = [&] { return (limits.buckets && resident_ > *limits.buckets) || !fits_pool({}); };
  while (over()) {
    PinnedBucket* const oldest = least_recent();
    if (!oldest) return;
    evict(*oldest);
  }
}

void PinnedBuckets::set_fixed(Bytes bytes) {
  held_ += bytes - fixed_;
  fixed_ = bytes;
}

PinnedSource PinnedBuckets::check_out(Bytes bytes) {
  PinnedBucket& asked = bucket(bytes);
  PinnedCounts& counts = asked.counts;
  ++counts.served.accesses;
  asked.last_access = ++clock_;
  if (limits_.buckets == 0) {
    ++counts.missed.disabled;
    return PinnedSource::none;
  }
  if (!asked.resident && !admit(asked)) return PinnedSource::none;
  PinnedSource source = PinnedSource::idle;
  if (asked.idle > 0) {
    --asked.idle;
    ++counts.served.reuses;
  } else if (!fits_pool(asked.size)) {
    ++counts.missed.bytes;
    return PinnedSource::none;
  } else if (asked.cached > 0) {
    --asked.cached;
    pool_ += asked.size;
    source = PinnedSource::cached;
  } else if (limits_.process && held_ + asked.size > *limits_.process) {
    ++counts.missed.failures;
    remove_if_empty(asked);
    return PinnedSource::none;
  } else {
    ++counts.served.allocations;
    pool_ += asked.size;
    held_ += asked.size;
    source = PinnedSource::pinned;
  }
  ++asked.in_use;
  ++counts.served.checkouts;
  return source;
}

void PinnedBuckets::take_back(Bytes bytes) {
  PinnedBucket& asked = bucket(bytes);
  --asked.counts.served.allocations;
  --asked.counts.served.checkouts;
  ++asked.counts.missed.failures;
  --asked.in_use;
  pool_ -= asked.size;
  held_ -= asked.size;
  remove_if_empty(asked);
}

void PinnedBuckets::mark_pending(Bytes bytes) {
  ++bucket(bytes).pending;
}

void PinnedBuckets::give_back(Bytes bytes) {
  PinnedBucket& given = bucket(bytes);
  --given.in_use;
  if (given.pending > 0) --given.pending;
  ++given.counts.turnover.releases;
  if (given.resident) {
    ++given.idle;
    return;
  }
  ++given.counts.turnover.dropped_releases;
  ++given.cached;
  pool_ -= given.size;
}

void PinnedBuckets::evict_all() {
  for (auto& [size, each] : buckets_)
    if (each.resident) evict(each);
}

std::vector<std::pair<Bytes, std::int64_t>> PinnedBuckets::flush() {
  std::vector<std::pair<Bytes, std::int64_t>> flushed;
  for (auto& [size, each] : buckets_) {
    if (each.cached == 0) continue;
    flushed.emplace_back(size, each.cached);
    held_ -= size * each.cached;
    each.cached = 0;
  }
  return flushed;
}

void PinnedBuckets::reset_counts() {
  for (auto& [size, each] : buckets_) each.counts = {};
}

PinnedReport PinnedBuckets::report() const {
  PinnedReport report{limits_, resident_, {}, fixed_ + pool_, held_, {}};
  for (const auto& [size, each] : buckets_) {
    report.totals += each.counts;
    report.buckets.push_back(each);
  }
  const auto key = [](const PinnedBucket& each) {
    return std::tuple(each.counts.served.accesses, each.counts.served.checkouts, each.last_access);
  };
  std::stable_sort(report.buckets.begin(), report.buckets.end(),
                   [&](const PinnedBucket& a, const PinnedBucket& b) { return key(a) > key(b); });
  return report;
}

PinnedBucket& PinnedBuckets::bucket(Bytes bytes) {
  const Bytes size = rounded(bytes);
  PinnedBucket& found = buckets_[size];
  found.size = size;
  return found;
}

bool PinnedBuckets::admit(PinnedBucket& candidate) {
  const bool full = limits_.buckets && resident_ >= *limits_.buckets;
  if (full || !fits_pool(candidate.size)) {
    PinnedBucket* const lowest = lowest_below(candidate);
    if (!lowest || !fits_pool(candidate.size - lowest->size * lowest->idle)) {
      ++(full ? candidate.counts.missed.cap : candidate.counts.missed.bytes);
      return false;
    }
    evict(*lowest);
  }
  candidate.resident = true;
  ++resident_;
  ++candidate.counts.turnover.admissions;
  return true;
}

PinnedBucket* PinnedBuckets::lowest_below(const PinnedBucket& candidate) {
  PinnedBucket* lowest = nullptr;
  for (auto& [size, each] : buckets_)
    if (each.resident && each.pending == 0 && (!lowest || scores_less(each, *lowest))) lowest = &each;
  return lowest && scores_less(*lowest, candidate) ? lowest : nullptr;
}

PinnedBucket* PinnedBuckets::least_recent() {
  PinnedBucket* oldest = nullptr;
  for (auto& [size, each] : buckets_)
    if (each.resident && (!oldest || each.last_access < oldest->last_access)) oldest = &each;
  return oldest;
}

void PinnedBuckets::evict(PinnedBucket& bucket) {
  bucket.cached += bucket.idle;
  pool_ -= bucket.size * bucket.idle;
  bucket.idle = 0;
  bucket.resident = false;
  --resident_;
  ++bucket.counts.turnover.evictions;
}

void PinnedBuckets::remove_if_empty(PinnedBucket& bucket) {
  if (!bucket.resident || bucket.idle > 0 || bucket.in_use > 0) return;
  bucket.resident = false;
  --resident_;
}

}  // namespace stowage
