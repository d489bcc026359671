// The fastest of what a trainer can be told that fits a budget.
//
// All shapes are simulated. What swap() adds to them is tried from the options whose step would be least
// without the swaps' copies; once that is no faster than an answer in hand, nothing further is, since more
// copies are only more to wait for. Beside one choice of the other options the least swap count that fits is
// the fastest, and is searched for by halving: each block more that is swapped, of nested sets and without
// prefetch, is on the device for less of the time.
#pragma once

#include <optional>

#include "plan/block_table.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/dialects/dialect.h"
#include "tuner/tuner.h"

namespace stowage {

struct Chosen {
  Options options;
  Meaning meaning;
  Run run;
};

struct Choice {
  std::optional<Chosen> best;  // absent: nothing fits
  Chosen least;                // of those priced, the least device peak within the host and pinned budgets
  std::int64_t considered = 0, evaluated = 0;  // different options; of those, simulated
};

// Options that mean what simpler ones do are left out. Throws InputError for a negative budget. Cost: a
// simulation for each shape, and for each swap count that is tried.
Choice choose(const BlockTable& table, const Machine& machine, const Budget& budget, const Dialect& dialect);

// One set of options, priced as it stands. Throws as meaning() does.
Chosen price(const BlockTable& table, const Machine& machine, const Dialect& dialect, const Options& options);

}  // namespace stowage
