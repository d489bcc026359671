// Settings between the ones that a search looked at: where a chain is long it leaves some out (see
// list_values).
#pragma once

#include <cstdint>

#include "plan/block_table.h"
#include "plan/settings.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/tuner.h"

namespace stowage {

struct Refined {
  Settings settings;
  Run run;
  std::int64_t evaluated = 0;
};

// Goes from settings that fit to faster ones that fit, or as fast and smaller ones: changes the interval, the
// stride and the swap count one at a time, by less and less, until no change of one helps. Cost: some dozens
// of simulations.
Refined refine(const BlockTable& table, const Machine& machine, const TuneRequest& request,
               const Settings& settings, const Run& run);

}  // namespace stowage
