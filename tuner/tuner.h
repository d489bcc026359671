// The fastest settings that fit a budget, and what every other budget would get.
//
// The search is exact for chains of up to some 68 blocks (of longer ones see settings_space.h): settings are
// left out only where a proof (see sketch.h) says that they are no better than ones already found. So its
// answer is optimal among the settings of the space. It is not a claim about plans that no settings express,
// nor about a disk: where the machine has one and keeping everything does not fit, plans that leave something
// on it are tried, too (see spill.h), and the answer is one of them if it is faster.
//
//   step |x                      Each x is a point of the frontier: no settings of the space are both faster
//        |   x                   and smaller. Under a budget the fastest is the last x before it.
//        |       x    x
//        +----------|-------- device peak
//                 budget
//
// The device peak is what the machine's arena reserves at most: of a caching arena more than what is live. A
// plan counts as fitting only where the arena need never give back what it has cached, which stops the
// device. Where pinned host memory counts against the device it is part of the peak: moving something there
// gains nothing then, but for what its rounding and the margin cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/settings_space.h"

namespace stowage {

// What a plan may hold at most, at any instant.
struct Budget {
  Bytes device, host, pinned;
};

// All that the machine has.
Budget budget_of(const Machine& machine);

bool fits(const Peaks& peaks, const Budget& budget);

// What is left of a budget where all host buffers of a plan must be pinned: what the machine does not let it
// pin would be pageable, and hold compute.
Budget all_pinned(Budget budget, const Machine& machine);

// As a plan's file says it.
Prediction prediction_of(const Run& run);

// How far a search has come.
struct TuneProgress {
  std::int64_t done, total;      // units of work, not of time
  std::optional<Nanos> fastest;  // that fits, so far
};

struct TuneRequest {
  Budget budget;
  SettingsSpace space;
  unsigned threads = 1;  // at least 1
  // Called now and then on the caller's thread; false ends the search with the best so far.
  std::function<bool(const TuneProgress&)> progress;
};

struct FrontierPoint {
  Settings settings;
  Run run;
};

// How much longer a step is than its bound: 0.01 is one percent. 0 where it is no longer.
double gap_over(Nanos bound, Nanos step);

struct TunedPlan {
  Plan plan;  // with `settings` and `predicted`, and for the best with `bound`
  Run run;
};

struct TuneResult {
  // The fastest plan within the budget. Ties go to the lower device peak, then to fewer host bytes, then to
  // simpler settings; but where keeping everything fits nothing is faster, and it is the answer. Absent:
  // nothing fits.
  std::optional<TunedPlan> best;
  // The plan with the least device peak within the host and pinned budgets. Its peak is the least device
  // budget that would do.
  TunedPlan least;
  Run null_run;  // keeping everything
  bool null_fits = false;
  // Within the host and pinned budgets, whatever the device budget: rising in peak, falling in step.
  std::vector<FrontierPoint> frontier;
  std::int64_t considered = 0;  // different plans in the space, whether or not a bound spared their pricing
  std::int64_t evaluated = 0;   // of those, priced by the simulator
  // No settings of the space within the budget take less than this. Equals the best plan's step unless the
  // search was ended early, the chain is long, or that plan uses a disk.
  Nanos bound;

  Bytes least_bytes() const { return least.run.peaks.on_device(); }
  // How much slower than the bound the best plan may be: 0.01 is one percent. 0 where nothing fits.
  double gap() const;
  bool optimal() const { return best && best->run.step == bound; }
};

// Throws InputError for a negative budget, for limits that leave no settings, and for no threads.
// The answer, counts included, is the same at any number of threads.
TuneResult tune(const BlockTable& table, const Machine& machine, const TuneRequest& request);

}  // namespace stowage
