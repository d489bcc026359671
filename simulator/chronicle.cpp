#include "simulator/chronicle.h"

#include <algorithm>

namespace stowage {

std::vector<Span> spans_of(const Program& program, const StepTimes& times,
                           const std::array<StepId, lane_count>& done) {
  std::vector<Span> spans;
  spans.reserve(program.steps.size());
  for (int lane = 0; lane < lane_count; ++lane) {
    const auto before = static_cast<std::ptrdiff_t>(spans.size());
    for (StepId id = program.lanes[lane].begin; id < done[lane]; ++id) {
      const Step& step = program.steps[id];
      spans.push_back(
          {step.lane, step.kind, step.block, step.storage, times[id].begin, times[id].end, step.bytes});
    }
    // Each lane is sorted, and a merge keeps the order of lanes where begins are equal.
    std::inplace_merge(spans.begin(), spans.begin() + before, spans.end(),
                       [](const Span& a, const Span& b) { return a.begin < b.begin; });
  }
  return spans;
}

std::map<std::string, std::int64_t> counters_of(const Program& program, const StepTimes& times,
                                                const std::array<StepId, lane_count>& done) {
  std::int64_t copies = 0, on_time = 0, late = 0;
  std::array<Bytes, lane_count> moved;
  for (Lane lane : {Lane::h2d, Lane::d2h}) {
    const int l = static_cast<int>(lane);
    copies += done[l] - program.lanes[l].begin;
    for (StepId id = program.lanes[l].begin; id < done[l]; ++id) moved[l] += program.steps[id].bytes;
  }
  Nanos ready;
  for (StepId id = program.first(Lane::compute); id < done[0]; ++id) {
    for (StepId wait : program.waits_of(id))
      if (program.steps[wait].lane == Lane::h2d) ++(times[wait].end <= ready ? on_time : late);
    ready = times[id].end;
  }
  return {{"copies", copies},
          {"bytes_h2d", moved[1].value},
          {"bytes_d2h", moved[2].value},
          {"prefetch_on_time", on_time},
          {"prefetch_late", late}};
}

}  // namespace stowage
