// What verify looks at: a timeline's spans, matched with the program's steps. Shared by its parts, and by
// nothing that simulates.
#pragma once

#include <string>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

using Findings = std::vector<std::string>;

struct Interval {
  Nanos begin, end;
};

// What holds the host thread, and the compute lane with it.
struct HostEvidence {
  std::vector<Interval> pageable;  // copies, as they begin
  std::vector<Interval> pinning;   // as the pool's rule has it; only of simulations
  std::vector<Nanos> usable_from;  // for each step: when a copy has its host memory
  Bytes held;                      // pinned memory when the step ends; only of simulations
};

struct Evidence {
  const Timeline& timeline;
  const Program& program;
  const Machine& machine;
  std::vector<const Span*> spans;  // for each step
  HostEvidence host;

  bool simulated() const { return timeline.source == "simulated"; }
  Nanos begin(StepId step) const { return spans[step]->begin; }
  Nanos end(StepId step) const { return spans[step]->end; }
  // When the step before it on its lane ended; 0 for a lane's first.
  Nanos end_before(StepId step) const;
  // When the compute lane came to this edge.
  Nanos instant(Trigger at) const;
  // When an edge of any step came.
  Nanos edge(StepId step, Edge edge) const;
  // When nothing but what the step waits for could keep it: its `ready`, or the issue of a copy.
  Nanos ready(StepId step) const;
  bool is_first(StepId step) const;
};

// Whether the intervals, sorted by begin, leave nothing of this one.
bool covers(const std::vector<Interval>& intervals, Interval whole);
// Those of both, sorted by begin.
std::vector<Interval> merged(const std::vector<Interval>& a, const std::vector<Interval>& b);

// "h2d restore_saved 3.0"
std::string title(const Program& program, StepId step);
std::string text(Nanos at);
std::string text(Bytes bytes);

// Finds what holds the host. Pageable copies run beside no compute and beside each other. Simulations only:
// copies are pageable, memory is pinned and the pool's counters stand as the rule of the pinned pool has it,
// beginning with what the pool was before, or empty.
void check_host(Evidence& evidence, const PinnedReport* before, Findings& findings);
// Starts: after the lane's previous step, the issue and all waits; in a simulation not a nanosecond later.
void check_starts(const Evidence& evidence, Findings& findings);
// Simulations only: each step takes as long as the program and the links say.
void check_durations(const Evidence& evidence, Findings& findings);
// Each buffer comes to life before it dies; the curves of a simulation are those that the spans make.
void check_memory(const Evidence& evidence, Findings& findings);
// Simulations only: what the caching arena hands out and holds follows from what is alive; an ideal one has
// no such curves.
void check_arena(const Evidence& evidence, Findings& findings);
// Stalls lie where the compute lane is idle, have the cause that the copies show, and add up.
void check_stalls(const Evidence& evidence, Findings& findings);

}  // namespace stowage
