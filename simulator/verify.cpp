#include "simulator/verify.h"

#include <algorithm>

#include "simulator/evidence.h"

namespace stowage {
namespace {

bool same_work(const Span& span, const Step& step) {
  return span.kind == step.kind && span.block == step.block && span.storage == step.storage &&
         span.layer == step.layer && span.bytes == step.bytes;
}

// Pairs the spans of each lane with its steps, in order. False where they are not the same steps: nothing
// more can be said then.
bool match(Evidence& evidence, Findings& findings) {
  const Program& program = evidence.program;
  evidence.spans.assign(program.steps.size(), nullptr);
  bool matched = true;
  for (int lane = 0; lane < lane_count; ++lane) {
    const Range range = program.lanes[lane];
    StepId next = range.begin;
    std::size_t extra = 0;
    for (const Span& span : evidence.timeline.spans) {
      if (static_cast<int>(span.lane) != lane) continue;
      if (next == range.end) {
        ++extra;
      } else if (!same_work(span, program.steps[next])) {
        findings.push_back("out of order: the program has " + title(program, next) +
                           " where the timeline has " + name_of(span.kind) + " at " + text(span.begin));
        return false;
      } else {
        evidence.spans[next++] = &span;
      }
    }
    if (extra == 0 && next == range.end) continue;
    findings.push_back(std::string(name_of(static_cast<Lane>(lane))) + " has " +
                       std::to_string(next - range.begin + extra) + " spans for " +
                       std::to_string(range.size()) + " steps");
    matched = false;
  }
  return matched;
}

void check_order(const Timeline& timeline, Findings& findings) {
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (span.begin < Nanos{} || span.end < span.begin)
      findings.push_back(std::string(name_of(span.kind)) + " runs backwards, from " + text(span.begin) +
                         " to " + text(span.end));
    if (i == 0) continue;
    const Span& before = timeline.spans[i - 1];
    if (std::tie(span.begin, span.lane) < std::tie(before.begin, before.lane))
      findings.push_back("spans are not sorted: one at " + text(span.begin) + " follows one at " +
                         text(before.begin));
  }
}

void check_budget(const char* space, const std::vector<MemorySample>& curve, std::optional<Bytes> budget,
                  Findings& findings) {
  if (!budget) return;
  for (const MemorySample& sample : curve)
    if (sample.bytes > *budget)
      return findings.push_back(std::string(space) + " memory is " + text(sample.bytes) + " at " +
                                text(sample.at) + ", over its budget of " + text(*budget));
}

// Where pinned memory counts against the device: it is held from one step to the next, and so at the peak.
void check_pinned_on_device(const Evidence& evidence, std::optional<Bytes> budget, Findings& findings) {
  const std::optional<Bytes>& margin = evidence.machine.host.device_margin;
  if (!budget || !margin || evidence.host.held == Bytes{}) return;
  Bytes most;
  for (const auto* curve : {&evidence.timeline.memory.device, &evidence.timeline.memory.reserved})
    for (const MemorySample& sample : *curve) most = std::max(most, sample.bytes);
  if (most + evidence.host.held + *margin > *budget)
    findings.push_back("device memory is " + text(most) + ", pinned host memory that counts there " +
                       text(evidence.host.held) + " and its margin " + text(*margin) +
                       ", over the budget of " + text(*budget));
}

class Starts {
 public:
  Starts(const Evidence& evidence, Findings& findings)
      : evidence_(evidence),
        findings_(findings),
        held_(merged(evidence.host.pageable, evidence.host.pinning)) {
    const Range lane = evidence.program.lanes[static_cast<int>(Lane::compute)];
    for (StepId step = lane.begin; step < lane.end; ++step)
      computing_.push_back({evidence.begin(step), evidence.end(step)});
  }

  void run() {
    for (StepId step = 0; step < evidence_.program.steps.size(); ++step) {
      const Nanos earliest = check_order(step);
      const Nanos begin = evidence_.begin(step);
      if (evidence_.simulated() && begin > earliest && !kept(step, {earliest, begin}))
        findings_.push_back(title(evidence_.program, step) + " begins at " + text(begin) +
                            ", though nothing keeps it after " + text(earliest));
    }
  }

 private:
  // When all has ended that the program has the step wait for.
  Nanos check_order(StepId step) {
    const Nanos begin = evidence_.begin(step);
    Nanos earliest;
    const auto after = [&](Nanos at, const char* what) {
      earliest = std::max(earliest, at);
      if (begin < at) too_early(step, what, at);
    };
    after(evidence_.end_before(step), "the step before it on the lane ends");
    after(evidence_.ready(step), "it is issued");
    for (StepId wait : evidence_.program.waits_of(step))
      after(evidence_.end(wait), (title(evidence_.program, wait) + " ends").c_str());
    if (!evidence_.host.usable_from.empty())
      after(evidence_.host.usable_from[step], "its host memory is pinned");
    return earliest;
  }
  void too_early(StepId step, const std::string& why, Nanos since) {
    findings_.push_back(title(evidence_.program, step) + " begins at " + text(evidence_.begin(step)) +
                        ", but " + why + " at " + text(since));
  }

  // Whether a step waits for the host all the while: compute for what holds the host, a pageable copy for
  // compute too, but for none that begins after it.
  bool kept(StepId step, Interval wait) const {
    if (!evidence_.program.steps[step].is_copy()) return covers(held_, wait);
    if (!evidence_.spans[step]->pageable) return false;
    const auto later = std::upper_bound(computing_.begin(), computing_.end(), wait.begin,
                                        [](Nanos at, const Interval& each) { return at < each.begin; });
    if (later != computing_.end() && later->begin < wait.end) return false;
    return covers(merged(held_, computing_), wait);
  }

  const Evidence& evidence_;
  Findings& findings_;
  const std::vector<Interval> held_;
  std::vector<Interval> computing_;
};

// Of a simulation; what a recorder counts is its own affair.
void check_counters(const Evidence& evidence, Findings& findings) {
  const Program& program = evidence.program;
  std::map<std::string, std::int64_t> counted{
      {"copies", 0}, {"bytes_h2d", 0}, {"bytes_d2h", 0}, {"prefetch_on_time", 0}, {"prefetch_late", 0}};
  for (const Span& span : evidence.timeline.spans) {
    if (span.lane == Lane::compute) continue;
    ++counted["copies"];
    counted[std::string("bytes_") + name_of(span.lane)] += span.bytes.value;
  }
  for (StepId step = 0; step < program.steps.size(); ++step) {
    if (program.steps[step].is_copy()) continue;
    for (StepId wait : program.waits_of(step))
      if (program.steps[wait].lane == Lane::h2d)
        ++counted[evidence.end(wait) > evidence.ready(step) ? "prefetch_late" : "prefetch_on_time"];
  }
  for (const auto& [name, value] : counted) {
    const auto found = evidence.timeline.counters.find(name);
    if (found == evidence.timeline.counters.end() || found->second != value)
      findings.push_back("counter " + name + " should be " + std::to_string(value));
  }
}

}  // namespace

Nanos Evidence::end_before(StepId step) const {
  return is_first(step) ? Nanos{} : end(step - 1);
}

Nanos Evidence::instant(Trigger at) const {
  switch (at.edge) {
    case Edge::ready:
      return end_before(at.step);
    case Edge::begin:
      return begin(at.step);
    case Edge::end:
      return end(at.step);
  }
  return {};
}

Nanos Evidence::ready(StepId step) const {
  return program.steps[step].is_copy() ? instant(program.steps[step].issue) : end_before(step);
}

Nanos Evidence::edge(StepId step, Edge edge) const {
  if (edge == Edge::ready) return ready(step);
  return edge == Edge::begin ? begin(step) : end(step);
}

bool Evidence::is_first(StepId step) const {
  return step == program.first(program.steps[step].lane);
}

std::string title(const Program& program, StepId id) {
  const Step& step = program.steps[id];
  std::string title = std::string(name_of(step.lane)) + " " + name_of(step.kind);
  if (step.block) title += " " + std::to_string(*step.block);
  if (step.storage) title += "." + std::to_string(*step.storage);
  if (step.layer) title += " layer " + std::to_string(*step.layer);
  return title;
}

std::string text(Nanos at) {
  return std::to_string(at.value) + " ns";
}

std::string text(Bytes bytes) {
  return std::to_string(bytes.value) + " B";
}

bool covers(const std::vector<Interval>& intervals, Interval whole) {
  for (const Interval& each : intervals)
    if (each.begin <= whole.begin) whole.begin = std::max(whole.begin, each.end);
  return whole.begin >= whole.end;
}

std::vector<Interval> merged(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> all(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(),
             [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  return all;
}

void check_starts(const Evidence& evidence, Findings& findings) {
  Starts(evidence, findings).run();
}

std::vector<std::string> verify(const Timeline& timeline, const Program& program, const Machine& machine,
                                const Budgets& budgets, const PinnedReport* pool_before) {
  Findings findings;
  Evidence evidence{timeline, program, machine, {}, {}};
  check_order(timeline, findings);
  check_budget("device", timeline.memory.device, budgets.device, findings);
  check_budget("host", timeline.memory.host, budgets.host, findings);
  check_budget("disk", timeline.memory.disk, budgets.disk, findings);
  if (!match(evidence, findings)) return findings;
  check_host(evidence, pool_before, findings);
  check_pinned_on_device(evidence, budgets.device, findings);
  check_starts(evidence, findings);
  if (evidence.simulated()) {
    check_durations(evidence, findings);
    check_counters(evidence, findings);
    check_arena(evidence, findings);
  }
  check_memory(evidence, findings);
  check_stalls(evidence, findings);
  return findings;
}

}  // namespace stowage
