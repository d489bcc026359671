// The fastest plan that can be found within a budget, with settings or without, and how far it can be from
// the best.
//
// Not a proof of the plan, as the search among settings is, but a proof of the distance: the certificate
// (see certificate.h) bounds every free plan. From where the bound points drafts are made, and the best of
// them are improved one change at a time. All are ranked by the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "traces/machine.h"
#include "tuner/tuner.h"

namespace stowage {

struct FreeRequest {
  Budget budget;
  std::int64_t tries = 4000;  // simulations for each of a few plans that are improved; of long chains half
  unsigned threads = 1;
  // Asked now and then, on any of the threads: true ends the search with the best so far. May be empty.
  std::function<bool()> cancelled = {};
};

struct FreeResult {
  std::optional<TunedPlan> best;  // absent: nothing was found that fits
  std::optional<Nanos> bound;     // no plan within the budget takes less; absent: none can fit
  std::int64_t evaluated = 0;
};

// `starts` are plans to begin with, within the budget or not, such as the best of a search among settings.
// The answer is the same at any number of threads, and never slower than a start that fits.
FreeResult search_free(const BlockTable& table, const Machine& machine, const FreeRequest& request,
                       const std::vector<Plan>& starts);

}  // namespace stowage
