#include "plan/pool_counters.h"

namespace stowage {

void count_pool(const PinnedReport& pool, std::map<std::string, std::int64_t>& counters) {
  const auto& [served, missed, turnover] = pool.totals;
  counters["pinned_accesses"] = served.accesses;
  counters["pinned_checkouts"] = served.checkouts;
  counters["pinned_reuses"] = served.reuses;
  counters["pinned_allocations"] = served.allocations;
  counters["pinned_disabled_misses"] = missed.disabled;
  counters["pinned_cap_misses"] = missed.cap;
  counters["pinned_byte_misses"] = missed.bytes;
  counters["pinned_allocation_failures"] = missed.failures;
  counters["pinned_admissions"] = turnover.admissions;
  counters["pinned_evictions"] = turnover.evictions;
  counters["pinned_releases"] = turnover.releases;
  counters["pinned_dropped_releases"] = turnover.dropped_releases;
  counters["pinned_resident_buckets"] = pool.resident_buckets;
  counters["pinned_tracked_buckets"] = static_cast<std::int64_t>(pool.buckets.size());
  counters["pinned_held_bytes"] = pool.held.value;
}

}  // namespace stowage
