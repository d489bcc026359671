#include "tuner/tuner.h"

#include <algorithm>

#include "plan/plan.h"
#include "simulator/step_times.h"
#include "traces/error.h"
#include "tuner/field.h"
#include "tuner/refinement.h"
#include "tuner/search.h"
#include "tuner/spill.h"

namespace stowage {
namespace {

void require(bool holds, const char* what, const std::string& reason) {
  if (!holds) throw InputError("", what, reason);
}

void check(const TuneRequest& request) {
  const auto at_least = [](std::int64_t value, std::int64_t least, const char* what) {
    require(value >= least, what, "must be at least " + std::to_string(least));
  };
  at_least(request.budget.device.value, 0, "device budget");
  at_least(request.budget.host.value, 0, "host budget");
  at_least(request.budget.pinned.value, 0, "pinned budget");
  at_least(request.space.max_swap_blocks.value_or(0), 0, "max_swap_blocks");
  at_least(request.space.max_prefetch, 0, "max_prefetch");
  at_least(request.space.max_streams, 1, "max_streams");
  at_least(request.threads, 1, "threads");
}

TunedPlan tuned(const Field& field, const Settings& settings, const Run& run) {
  TunedPlan tuned{expand(field.table, settings).plan, run};
  tuned.plan.predicted = prediction_of(run);
  return tuned;
}

// Of plans with a disk, too, this alone is known: each computes what the null plan computes.
void try_disk(const BlockTable& table, const Machine& machine, const TuneRequest& request,
              TuneResult& result) {
  if (!machine.disk || result.null_fits) return;
  Spilled spilled = spill(table, machine, request, result.best ? result.best->run.step : never);
  result.considered += spilled.considered;
  result.evaluated += spilled.evaluated;
  if (!spilled.plan) return;
  result.best = std::move(spilled.plan);
  result.bound = result.null_run.step;
  result.best->plan.predicted = prediction_of(result.best->run);
  result.best->plan.bound = result.bound;
}

// Keeping everything takes no more than its compute steps, which every plan carries out. So where it fits no
// plan is faster.
std::optional<Candidate> best_of(const Found& found, const Run& null_run, const Budget& budget) {
  if (null_run.peaks.on_device() <= budget.device) return keep_everything;
  std::optional<Candidate> best;
  for (const Standing& point : found.frontier.points())
    if (point.figures.peak <= budget.device) best = point.candidate;
  return best;
}

}  // namespace

Budget budget_of(const Machine& machine) {
  return {machine.device.usable(), machine.host.memory, machine.host.pinned_limit};
}

Prediction prediction_of(const Run& run) {
  return {
      run.step, run.compute, run.stall(), run.peaks.device, run.peaks.host_activation, run.peaks.host_pinned};
}

bool fits(const Peaks& peaks, const Budget& budget) {
  return peaks.on_device() <= budget.device && peaks.host <= budget.host &&
         peaks.host_pinned <= budget.pinned;
}

Budget all_pinned(Budget budget, const Machine& machine) {
  budget.pinned = std::min(budget.pinned, machine.host.pinned_limit);
  return budget;
}

double gap_over(Nanos bound, Nanos step) {
  if (step <= bound || bound == Nanos{}) return 0;
  return static_cast<double>((step - bound).value) / static_cast<double>(bound.value);
}

double TuneResult::gap() const {
  return best ? gap_over(bound, best->run.step) : 0;
}

TuneResult tune(const BlockTable& table, const Machine& machine, const TuneRequest& request) {
  check(request);
  const Field field(table, machine, request.space);
  const Found found = search(field, request);
  const std::vector<Standing>& points = found.frontier.points();
  const auto run_of = [&](const Candidate& candidate) { return found.runs.at(candidate); };

  TuneResult result;
  result.null_run = run_of(keep_everything);
  result.null_fits = result.null_run.peaks.on_device() <= request.budget.device;
  result.considered = found.considered;
  result.evaluated = static_cast<std::int64_t>(found.runs.size());
  for (const Standing& point : points)
    result.frontier.push_back({field.settings_of(point.candidate), run_of(point.candidate)});
  const Candidate least = points.front().candidate;
  result.least = tuned(field, field.settings_of(least), run_of(least));
  if (const auto best = best_of(found, result.null_run, request.budget)) {
    Refined refined{field.settings_of(*best), run_of(*best)};
    if (!field.whole && *best != keep_everything)
      refined = refine(table, machine, request, refined.settings, refined.run);
    result.best = tuned(field, refined.settings, refined.run);
    result.evaluated += refined.evaluated;
    // Of a search that did not see all only this is known: every plan computes what the null plan computes.
    result.bound = found.complete && field.whole ? result.best->run.step : result.null_run.step;
    result.best->plan.bound = result.bound;
  }
  try_disk(table, machine, request, result);
  return result;
}

}  // namespace stowage
