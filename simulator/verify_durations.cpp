// Checks how long each step took.
//
// Rates change while work is under way, so the work that a span has done is its length, piece by piece at the
// rate of the piece; it must be the work that the step is, but for what rounding adds: less than a nanosecond
// at each change of rate and at the end.
#include <algorithm>
#include <array>
#include <cmath>

#include "simulator/evidence.h"
#include "traces/error.h"

namespace stowage {
namespace {

__extension__ using Wide = __int128;

// Rates as parts of full speed.
constexpr std::int64_t full = 1'000'000'000;

std::int64_t parts_left(double share) {
  return std::max<std::int64_t>(1, std::llround(share * full));
}

// The parts of `within` that `others` (sorted, disjoint) cover: their length, and how often it changes
// whether one does.
struct Overlap {
  Nanos length;
  std::int64_t changes = 0;
};

Overlap overlap(Interval within, const std::vector<Interval>& others) {
  Overlap found;
  auto other = std::upper_bound(others.begin(), others.end(), within.begin,
                                [](Nanos at, const Interval& each) { return at < each.end; });
  for (; other != others.end() && other->begin < within.end; ++other) {
    found.length += std::min(within.end, other->end) - std::max(within.begin, other->begin);
    found.changes += (other->begin > within.begin) + (other->end < within.end);
  }
  return found;
}

// Sorted and disjoint, touching ones joined.
std::vector<Interval> joined(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> all = a, result;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  for (const Interval& each : all) {
    if (!result.empty() && each.begin <= result.back().end)
      result.back().end = std::max(result.back().end, each.end);
    else
      result.push_back(each);
  }
  return result;
}

class Durations {
 public:
  Durations(const Evidence& evidence, Findings& findings) : evidence_(evidence), findings_(findings) {
    for (Lane lane : {Lane::h2d, Lane::d2h}) {
      std::vector<Interval>& list = transfers_[static_cast<int>(lane)];
      for_each(lane, [&](StepId step) {
        if (transfer(step).begin < transfer(step).end) list.push_back(transfer(step));
      });
      list = joined(list, {});
    }
  }

  void run() {
    const Links& links = evidence_.machine.links;
    const std::vector<Interval>&in = transfers_[1], &out = transfers_[2];
    const std::int64_t slowed = parts_left(1.0 - links.compute_slowdown);
    const std::int64_t in_shared = parts_left(links.h2d.duplex.value_or(links.duplex));
    const std::int64_t out_shared = parts_left(links.d2h.duplex.value_or(links.duplex));
    const std::vector<Interval> any = joined(in, out);
    for_each(Lane::compute, [&](StepId step) {
      compare(step, {evidence_.begin(step), evidence_.end(step)}, evidence_.program.steps[step].duration, any,
              slowed);
    });
    for_each(Lane::h2d, [&](StepId step) { compare(step, transfer(step), work(step), out, in_shared); });
    for_each(Lane::d2h, [&](StepId step) { compare(step, transfer(step), work(step), in, out_shared); });
    for (Lane lane : {Lane::disk_read, Lane::disk_write})
      for_each(lane, [&](StepId step) { compare(step, transfer(step), work(step), {}, full); });
  }

 private:
  template <class Function>
  void for_each(Lane lane, Function&& function) const {
    const Range range = evidence_.program.lanes[static_cast<int>(lane)];
    for (StepId step = range.begin; step < range.end; ++step) function(step);
  }

  const Link& link(StepId step) const {
    const Machine& machine = evidence_.machine;
    switch (evidence_.program.steps[step].lane) {
      case Lane::disk_read:
        return machine.disk->read;
      case Lane::disk_write:
        return machine.disk->write;
      case Lane::h2d:
        return machine.links.h2d;
      default:
        return machine.links.d2h;
    }
  }
  Nanos work(StepId step) const {
    const Bytes bytes = evidence_.program.steps[step].bytes;
    const Nanos pinned = link(step).time_for(bytes);
    return evidence_.spans[step]->pageable
               ? std::max(pinned, evidence_.machine.links.pageable.time_for(bytes))
               : pinned;
  }
  // The part of a copy in which bytes flow.
  Interval transfer(StepId step) const {
    const Lane lane = evidence_.program.steps[step].lane;
    const bool back_to_back =
        !evidence_.is_first(step) && evidence_.begin(step) == evidence_.end_before(step);
    const bool one_stream = evidence_.program.single_stream[static_cast<int>(lane)];
    const Nanos latency = back_to_back && !one_stream ? Nanos{} : link(step).latency;
    return {evidence_.begin(step) + latency, evidence_.end(step)};
  }

  void compare(StepId step, Interval span, Nanos work, const std::vector<Interval>& others,
               std::int64_t share) {
    const Overlap slow = overlap(span, others);
    const Nanos length = span.end - span.begin;
    const Wide done =
        static_cast<Wide>((length - slow.length).value) * full + static_cast<Wide>(slow.length.value) * share;
    const Wide needed = static_cast<Wide>(work.value) * full;
    const Wide slack = share == full ? 1 : static_cast<Wide>(slow.changes + 1) * full;
    if (length >= Nanos{} && done >= needed && done < needed + slack) return;
    const bool shorter = length < Nanos{} || done < needed;
    findings_.push_back(
        title(evidence_.program, step) + " takes " + text(evidence_.end(step) - evidence_.begin(step)) +
        ", " + (shorter ? "less" : "more") + " than its " + text(work) +
        (evidence_.program.steps[step].is_copy() ? " and the link's latency" : "") + " allow");
  }

  const Evidence& evidence_;
  Findings& findings_;
  std::array<std::vector<Interval>, lane_count> transfers_;
};

}  // namespace

void check_durations(const Evidence& evidence, Findings& findings) {
  Durations(evidence, findings).run();
}

}  // namespace stowage
