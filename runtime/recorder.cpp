#include "runtime/recorder.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "plan/pool_counters.h"

namespace stowage {
namespace {

// One sample an instant: of several the highest, so that no peak is lost.
void append(std::vector<MemorySample>& curve, Nanos at, Bytes bytes) {
  if (!curve.empty() && at <= curve.back().at) {
    curve.back().bytes = std::max(curve.back().bytes, bytes);
  } else if (curve.empty() || curve.back().bytes != bytes) {
    curve.push_back({at, bytes});
  }
}

}  // namespace

Recorder::Recorder(const Program& program)
    : program_(program), begin_(std::chrono::steady_clock::now()), times_(program.steps.size()) {
  timeline_.source = "measured";
}

Nanos Recorder::since_begin(Instant instant) const {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(instant - begin_).count()};
}

void Recorder::ran(StepId step, Nanos begin, Nanos end) {
  times_[step].begin = begin;
  times_[step].end = end;
}

void Recorder::device_bytes(Nanos at, Bytes bytes) {
  append(timeline_.memory.device, at, bytes);
}

void Recorder::host_bytes(Nanos at, Bytes bytes) {
  append(timeline_.memory.host, at, bytes);
}

Timeline Recorder::finish(const PinnedReport& pool) {
  list_spans();
  list_stalls();
  count_copies();
  if (pool.totals.served.accesses > 0) {
    count("pageable_copies",
          std::count_if(times_.begin(), times_.end(), [](const Times& t) { return t.pageable; }));
    count_pool(pool, timeline_.counters);
  }
  return std::move(timeline_);
}

void Recorder::list_spans() {
  for (StepId id = 0; id < times_.size(); ++id) {
    const Step& step = program_.steps[id];
    const auto [begin, end, pageable] = times_[id];
    timeline_.spans.push_back(
        {step.lane, step.kind, step.block, step.storage, begin, end, step.bytes, step.layer, pageable});
    timeline_.step = std::max(timeline_.step, end);
    if (!step.is_copy()) timeline_.compute += end - begin;
  }
  std::stable_sort(timeline_.spans.begin(), timeline_.spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.begin, a.lane) < std::tie(b.begin, b.lane);
  });
}

void Recorder::list_stalls() {
  Nanos ready;
  const Range compute = program_.lanes[static_cast<int>(Lane::compute)];
  for (StepId id = compute.begin; id < compute.end; ++id) {
    const Nanos begin = times_[id].begin, end = times_[id].end;
    if (begin > ready)
      timeline_.stalls.push_back({cause_of(ready, begin), program_.steps[id].block, ready, begin});
    ready = end;
  }
  if (timeline_.step > ready) timeline_.stalls.push_back({StallCause::drain, {}, ready, timeline_.step});
}

// What held the compute thread itself comes first, then what was on its way to the device; while nothing was,
// it could not start, since what was to come back was still going out.
StallCause Recorder::cause_of(Nanos begin, Nanos end) const {
  std::array<Nanos, stall_cause_count> shares{};
  Nanos idle = end - begin;
  const auto overlap = [&](const Times& times) {
    return std::max(Nanos{}, std::min(end, times.end) - std::max(begin, times.begin));
  };
  const auto blame = [&](StallCause cause, Nanos time) {
    shares[static_cast<int>(cause)] += time;
    idle -= time;
  };
  for (const Times& pinning : pinning_) blame(StallCause::pinning, overlap(pinning));
  for (const Lane lane : {Lane::h2d, Lane::d2h})
    for (StepId id = program_.first(lane); id < program_.lanes[static_cast<int>(lane)].end; ++id)
      if (times_[id].pageable || lane == Lane::h2d) blame(cause_of_copy(id), overlap(times_[id]));
  shares[static_cast<int>(StallCause::store)] = std::max(Nanos{}, idle);
  return static_cast<StallCause>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

StallCause Recorder::cause_of_copy(StepId copy) const {
  if (times_[copy].pageable) return StallCause::pageable;
  return program_.steps[copy].kind == StepKind::load_weights ? StallCause::weights : StallCause::restore;
}

void Recorder::count_copies() {
  std::int64_t on_time = 0, late = 0;
  std::array<std::int64_t, lane_count> copies{}, bytes{};
  for (StepId id = 0; id < program_.steps.size(); ++id) {
    const Step& step = program_.steps[id];
    if (step.is_copy()) {
      ++copies[static_cast<int>(step.lane)];
      bytes[static_cast<int>(step.lane)] += step.bytes.value;
      continue;
    }
    const Nanos ready = id == 0 ? Nanos{} : times_[id - 1].end;
    for (StepId wait : program_.waits_of(id))
      if (program_.steps[wait].lane == Lane::h2d) ++(times_[wait].end > ready ? late : on_time);
  }
  const auto h2d = static_cast<int>(Lane::h2d), d2h = static_cast<int>(Lane::d2h);
  count("copies", copies[h2d] + copies[d2h]);
  count("bytes_h2d", bytes[h2d]);
  count("bytes_d2h", bytes[d2h]);
  count("prefetch_on_time", on_time);
  count("prefetch_late", late);
}

}  // namespace stowage
