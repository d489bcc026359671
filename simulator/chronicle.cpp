#include "simulator/chronicle.h"

#include <algorithm>
#include <array>

#include "plan/pool_counters.h"

namespace stowage {

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
  if (uses_disk(program))
    for (Lane lane : {Lane::disk_read, Lane::disk_write})
      counters[std::string("bytes_") + name_of(lane)] = moved[static_cast<int>(lane)].value;
  const PinnedReport pool = host.report();
  if (pool.totals.served.accesses == 0) return counters;
  counters["pageable_copies"] = pageable;
  count_pool(pool, counters);
  return counters;
}

}  // namespace stowage
