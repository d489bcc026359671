// Checks that stalls lie where the compute lane is idle, have the cause that the copies show, and add up.
#include <algorithm>

#include "simulator/evidence.h"

namespace stowage {
namespace {

std::string title(const Stall& stall) {
  return std::string("stall (") + name_of(stall.cause) + ") from " + text(stall.begin) + " to " +
         text(stall.end);
}

// The compute step that begins where the gap with this instant ends; absent after the last.
std::optional<StepId> waiting_at(const Evidence& evidence, Nanos at) {
  const Range range = evidence.program.lanes[static_cast<int>(Lane::compute)];
  const auto after =
      std::partition_point(evidence.spans.begin() + range.begin, evidence.spans.begin() + range.end,
                           [&](const Span* span) { return span->begin <= at; });
  if (after == evidence.spans.begin() + range.end) return {};
  return static_cast<StepId>(after - evidence.spans.begin());
}

// How much of the stall the lane spends on copies of weights, or of anything else.
Nanos busy(const Evidence& evidence, const Stall& stall, bool weights) {
  const Range range = evidence.program.lanes[static_cast<int>(Lane::h2d)];
  const auto end = evidence.spans.begin() + range.end;
  auto span = std::partition_point(evidence.spans.begin() + range.begin, end,
                                   [&](const Span* each) { return each->end <= stall.begin; });
  Nanos total;
  for (; span != end && (*span)->begin < stall.end; ++span)
    if (((*span)->kind == StepKind::load_weights) == weights)
      total += std::min(stall.end, (*span)->end) - std::max(stall.begin, (*span)->begin);
  return total;
}

// When the last copy to the device that the step needs has arrived.
Nanos arrival(const Evidence& evidence, StepId step) {
  Nanos last;
  for (StepId wait : evidence.program.waits_of(step))
    if (evidence.program.steps[wait].lane == Lane::h2d) last = std::max(last, evidence.end(wait));
  return last;
}

bool overlaps(const std::vector<Interval>& intervals, const Stall& stall) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& each) { return each.begin < stall.end && stall.begin < each.end; });
}

// A stall while the host was held has that for its cause.
bool held(const Evidence& evidence, const Stall& stall) {
  const HostEvidence& host = evidence.host;
  if (stall.cause == StallCause::pageable) return covers(host.pageable, {stall.begin, stall.end});
  if (overlaps(host.pageable, stall)) return false;
  if (stall.cause == StallCause::pinning) return covers(host.pinning, {stall.begin, stall.end});
  return !overlaps(host.pinning, stall);
}

// How far into the stall the lane of copies to the device stands still for the disk: each copy to come, as
// long as it waits for what is being read. Copies that take no time end a wait and begin another.
Nanos waits_for_disk_until(const Evidence& evidence, const Stall& stall) {
  const Range lane = evidence.program.lanes[static_cast<int>(Lane::h2d)];
  Nanos at = stall.begin;
  auto span = std::partition_point(evidence.spans.begin() + lane.begin, evidence.spans.begin() + lane.end,
                                   [&](const Span* each) { return each->end <= at; });
  for (auto copy = static_cast<StepId>(span - evidence.spans.begin()); copy < lane.end; ++copy) {
    Nanos read;
    for (StepId wait : evidence.program.waits_of(copy))
      if (evidence.program.steps[wait].lane == Lane::disk_read) read = std::max(read, evidence.end(wait));
    at = std::max(at, std::min(read, stall.end));
    if (evidence.end(copy) > at || at == stall.end) break;
  }
  return at;
}

bool justified(const Evidence& evidence, const Stall& stall, StepId step) {
  if (!held(evidence, stall)) return false;
  const Nanos length = stall.end - stall.begin;
  const Nanos arrived = arrival(evidence, step);
  switch (stall.cause) {
    case StallCause::restore:
      return arrived >= stall.end && busy(evidence, stall, false) == length;
    case StallCause::weights:
      return arrived >= stall.end && busy(evidence, stall, true) == length;
    case StallCause::disk:
      return arrived >= stall.end && busy(evidence, stall, false) + busy(evidence, stall, true) == Nanos{} &&
             waits_for_disk_until(evidence, stall) == stall.end;
    case StallCause::store: {
      // Idle as long as something is still to arrive; once all has, only stores are left to wait for.
      const Stall before{stall.cause, stall.block, stall.begin, std::min(stall.end, arrived)};
      return before.end <= before.begin ||
             (busy(evidence, before, false) + busy(evidence, before, true) == Nanos{} &&
              waits_for_disk_until(evidence, before) == before.begin);
    }
    case StallCause::pageable:
    case StallCause::pinning:
      return true;
    case StallCause::drain:
      return false;
  }
  return false;
}

void check_place(const Evidence& evidence, const Stall& stall, Findings& findings) {
  const std::optional<StepId> step = waiting_at(evidence, stall.begin);
  const Range compute = evidence.program.lanes[static_cast<int>(Lane::compute)];
  const Nanos idle_from = step                 ? evidence.end_before(*step)
                          : compute.size() > 0 ? evidence.end(compute.end - 1)
                                               : Nanos{};
  const Nanos idle_to = step ? evidence.begin(*step) : evidence.timeline.step;
  if (stall.begin < idle_from || stall.end > idle_to || stall.begin >= stall.end)
    return findings.push_back(title(stall) + " is not in a gap of the compute lane");
  if ((stall.cause == StallCause::drain) == step.has_value())
    return findings.push_back(title(stall) + (step ? ": compute has not ended" : ": compute has ended"));
  if (stall.block != (step ? evidence.program.steps[*step].block : std::nullopt))
    findings.push_back(title(stall) + " names a block that is not the one that waits");
  if (evidence.simulated() && step && !justified(evidence, stall, *step))
    findings.push_back(title(stall) + " has another cause");
}

}  // namespace

void check_stalls(const Evidence& evidence, Findings& findings) {
  const Timeline& timeline = evidence.timeline;
  Nanos busy, last, stalled;
  for (StepId step = 0; step < evidence.program.steps.size(); ++step) {
    last = std::max(last, evidence.end(step));
    if (!evidence.program.steps[step].is_copy()) busy += evidence.end(step) - evidence.begin(step);
  }
  if (last > timeline.step || (evidence.simulated() && last != timeline.step))
    findings.push_back("the step takes " + text(timeline.step) + ", but its last span ends at " + text(last));
  if (evidence.simulated() && busy != timeline.compute)
    findings.push_back("compute takes " + text(timeline.compute) + ", but its spans add up to " + text(busy));
  Nanos end;
  for (const Stall& stall : timeline.stalls) {
    if (stall.begin < end) findings.push_back(title(stall) + " begins before the one before it ends");
    end = std::max(end, stall.end);
    stalled += stall.end - stall.begin;
    check_place(evidence, stall, findings);
  }
  if (stalled != timeline.step - timeline.compute)
    findings.push_back("stalls add up to " + text(stalled) + ", but step - compute is " +
                       text(timeline.step - timeline.compute));
}

}  // namespace stowage
