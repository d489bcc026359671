// Checks a timeline against its program with code of its own: nothing certifies itself.
#pragma once

#include <string>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

// Budgets that the timeline's curves must respect.
struct Budgets {
  std::optional<Bytes> device, host, disk = {};
};

// Every contradiction found, in plain words; empty means that the timeline is a legal execution of the
// program: each step once, order on each lane, no overlap on a lane, nothing used before it has arrived,
// copies no shorter than the link allows, curves that follow from the spans, stalls that add up, budgets
// kept. For measured timelines (source "measured") durations and curves are not compared with the machine's
// figures.
//
// `pool_before`: the pinned pool as the step found it; null for an empty one.
std::vector<std::string> verify(const Timeline& timeline, const Program& program, const Machine& machine,
                                const Budgets& budgets, const PinnedReport* pool_before = nullptr);

}  // namespace stowage
