#include "tuner/free/least_memory.h"

#include "simulator/step_times.h"
#include "tuner/free/draft.h"
#include "tuner/free/improvement.h"

namespace stowage {
namespace {

constexpr int most_rounds = 12;

// With no device memory at all to fit, what is over it is the peak.
TunedPlan shrunk(const BlockTable& table, const Machine& machine, const FreeRequest& request,
                 const Plan& start) {
  Budget nothing = request.budget;
  nothing.device = {};
  Improvement improvement(table, machine, nothing);
  Draft draft(table, start);
  improvement.improve(draft, request.tries, never);
  improvement.price(draft);
  return {draft.plan(), improvement.run()};
}

}  // namespace

TunedPlan least_memory(const BlockTable& table, const Machine& machine, const FreeRequest& request,
                       const Plan& start) {
  TunedPlan least = shrunk(table, machine, request, start);
  for (int round = 0; round < most_rounds && !fits(least.run.peaks, request.budget); ++round) {
    FreeRequest below = request;
    below.budget.device = least.run.peaks.on_device() - Bytes{1};
    const FreeResult found = search_free(table, machine, below, {least.plan});
    if (!found.best) break;
    least = shrunk(table, machine, request, found.best->plan);
  }
  least.plan.predicted = prediction_of(least.run);
  return least;
}

}  // namespace stowage
