// The plan with the least device peak, for budgets that nothing found so far fits.
#pragma once

#include "plan/block_table.h"
#include "plan/plan.h"
#include "traces/machine.h"
#include "tuner/free/free_search.h"
#include "tuner/tuner.h"

namespace stowage {

// Makes `start` smaller, then searches just below what that takes, and so on, until the plan fits the
// request's budget or no search finds one that is smaller. So with a budget of the peak that comes out a
// search, or this, finds a plan, and with one byte less neither does. Peaks are counted within the host and
// pinned budgets. Cost: a few searches.
TunedPlan least_memory(const BlockTable& table, const Machine& machine, const FreeRequest& request,
                       const Plan& start);

}  // namespace stowage
