// What to do about a plan once steps under it have been measured.
//
//   profile, machine --tune--> plan --run--> timelines
//        ^------------- refit ----------------'
//
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "simulator/outcome.h"
#include "tuner/refit.h"
#include "tuner/tuner.h"

namespace stowage {

// Steps that were run under a plan, beside what was said of them.
struct Observation {
  Timeline predicted;
  std::vector<Timeline> measured;  // never empty

  Nanos step() const;    // measured, median
  Nanos spread() const;  // of the measured steps: the longest less the shortest
};

struct Correction {
  Refit refit;
  Run now;                          // the plan in use, under the corrected figures
  std::optional<TunedPlan> better;  // within the budget, and faster by more than the gain that pays
};

// A gain that is less than a fiftieth of the step, or than what steps differ by among themselves, does not
// pay. Throws as refit() and tune() do. Cost: that of a search.
Correction correct(const Figures& figures, const Plan& plan, const Observation& seen,
                   const TuneRequest& request);

// A setting of the plan that was to change the peak or the step by more than a hundredth of it and more than
// steps differ by, while what was measured is what would be without it.
struct Inert {
  std::string setting;  // as describe() says it
  Run with, without;    // predicted
};

// In the order of Settings. Cost: a simulation for each setting that is not the default.
std::vector<Inert> without_effect(const Figures& figures, const Settings& settings, const Observation& seen);

}  // namespace stowage
