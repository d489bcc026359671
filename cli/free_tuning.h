// The search beyond settings, as `stowage tune` runs and tells it.
#pragma once

#include <string>

#include "cli/tuning.h"
#include "plan/block_table.h"
#include "traces/machine.h"
#include "tuner/free/free_search.h"

namespace stowage {

// The answer of both searches: the best plan, with settings where no free plan is faster.
struct FreeTuning {
  FreeResult free;
  std::optional<TunedPlan> best;   // absent: nothing fits
  std::optional<TunedPlan> least;  // where no search found one that fits: the one with the least device peak
  Nanos elapsed;                   // of this search alone

  bool beyond_settings() const { return best && !best->plan.settings; }
  bool optimal() const { return best && free.bound && best->run.step <= *free.bound; }
  // How much slower than the bound the best plan may be: 0.01 is one percent.
  double gap() const;
};

// Goes on from what a search among settings has found.
FreeTuning run_free_tuning(const BlockTable& table, const Machine& machine, const Tuning& tuning,
                           unsigned threads);

// What a plan does, in a line: settings in their words, a free plan in figures.
std::string summary(const BlockTable& table, const Plan& plan);
// One sentence: what is fastest, and what settings would do, or what would be needed.
std::string sentence(const BlockTable& table, const Tuning& tuning, const FreeTuning& found);
// How sure the answer is.
std::string certainty(const Tuning& tuning, const FreeTuning& found);

}  // namespace stowage
