#include "simulator/chronicle.h"

#include <algorithm>
#include <array>

namespace stowage {

namespace {

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

}  // namespace

std::vector<Span> spans_of(const Program& program, const StepTimes& times, const HostPool& host) {
  std::vector<Span> spans;
  spans.reserve(program.steps.size());
  for (const Range& lane : program.lanes) {
    const auto before = static_cast<std::ptrdiff_t>(spans.size());
    for (StepId id = lane.begin; id < lane.end && times[id].end != never; ++id) {
      const Step& step = program.steps[id];
      spans.push_back({step.lane, step.kind, step.block, step.storage, times[id].begin, times[id].end,
                       step.bytes, step.layer, step.is_copy() && host.copies_pageable(id)});
    }
    // Each lane is sorted, and a merge keeps the order of lanes where begins are equal.
    std::inplace_merge(spans.begin(), spans.begin() + before, spans.end(),
                       [](const Span& a, const Span& b) { return a.begin < b.begin; });
  }
  return spans;
}

std::map<std::string, std::int64_t> counters_of(const Program& program, const StepTimes& times,
                                                const HostPool& host) {
  std::int64_t copies = 0, pageable = 0, on_time = 0, late = 0;
  std::array<Bytes, lane_count> moved;
  for (StepId id = 0; id < program.steps.size(); ++id) {
    const Step& step = program.steps[id];
    if (times[id].end == never) continue;
    if (step.is_copy()) {
      ++copies;
      pageable += host.copies_pageable(id);
      moved[static_cast<int>(step.lane)] += step.bytes;
      continue;
    }
    const Nanos ready = instant_of({id, Edge::ready}, times);
    for (StepId wait : program.waits_of(id))
      if (program.steps[wait].lane == Lane::h2d) ++(times[wait].end <= ready ? on_time : late);
  }
  std::map<std::string, std::int64_t> counters{{"copies", copies},
                                               {"bytes_h2d", moved[static_cast<int>(Lane::h2d)].value},
                                               {"bytes_d2h", moved[static_cast<int>(Lane::d2h)].value},
                                               {"prefetch_on_time", on_time},
                                               {"prefetch_late", late}};
  const PinnedReport pool = host.report();
  if (pool.totals.served.accesses == 0) return counters;
  counters["pageable_copies"] = pageable;
  count_pool(pool, counters);
  return counters;
}

}  // namespace stowage
