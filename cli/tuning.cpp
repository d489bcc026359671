#include "cli/tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "cli/interrupt.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "traces/error.h"
#include "traces/json.h"

namespace stowage {
namespace {

// Of many points, those that a reader can take in.
constexpr std::size_t frontier_rows = 12;

std::vector<FrontierPoint> thinned(const std::vector<FrontierPoint>& frontier) {
  if (frontier.size() <= frontier_rows) return frontier;
  std::vector<FrontierPoint> some;
  for (std::size_t i = 0; i < frontier_rows; ++i)
    some.push_back(frontier[i * (frontier.size() - 1) / (frontier_rows - 1)]);
  return some;
}

std::vector<std::string> cells(const std::string& name, const Run& run, const std::string& remark) {
  return {name, readable(run.step), readable(run.peaks.on_device()), readable(run.peaks.host), remark};
}

std::string against_null(const Run& run, const Run& null) {
  if (run.step == null.step) return "as long as keeping everything";
  const double ratio = static_cast<double>(run.step.value) / static_cast<double>(null.step.value);
  return percent(std::abs(ratio - 1)) + (ratio > 1 ? " longer" : " less") + " than keeping everything";
}

std::string best_sentence(const Tuning& tuning) {
  const TuneResult& result = tuning.result;
  const TunedPlan& best = *result.best;
  if (result.null_fits && best.run == result.null_run)
    return "Keep everything: it fits, and nothing is faster than its " + readable(best.run.step) + " a step.";
  return "The fastest plan that fits is " + describe(*best.plan.settings) + ": a step takes " +
         readable(best.run.step) + ", " + against_null(best.run, result.null_run) +
         (result.null_fits ? "." : ", which does not fit.");
}

}  // namespace

Budget budget_with(const Machine& machine, Bytes margin) {
  if (margin > machine.device.usable())
    throw InputError("--margin", "",
                     "more than the " + readable(machine.device.usable()) + " that the device has");
  Budget budget = budget_of(machine);
  budget.device -= margin;
  return budget;
}

Tuning run_tuning(const BlockTable& table, const Machine& machine, Bytes margin, unsigned threads) {
  Tuning tuning;
  tuning.budget = budget_with(machine, margin);
  tuning.held_back = machine.device.reserved + margin;
  ProgressLine line;
  TuneRequest request;
  request.budget = tuning.budget;
  request.threads = threads;
  request.progress = [&](const TuneProgress& progress) {
    line.show("tuning", progress.done, progress.total, "",
              progress.fastest ? ", fastest so far " + readable(*progress.fastest) : "");
    return !Interrupt::requested();
  };
  const auto begin = std::chrono::steady_clock::now();
  tuning.result = tune(table, machine, request);
  tuning.elapsed = {std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  return tuning;
}

std::string sentence(const Tuning& tuning) {
  if (tuning.result.best) return best_sentence(tuning);
  return nothing_fits(tuning, tuning.result.least.run, describe(*tuning.result.least.plan.settings));
}

std::string nothing_fits(const Tuning& tuning, const Run& least, const std::string& plan) {
  const Bytes peak = least.peaks.on_device();
  return "Nothing fits " + readable(tuning.budget.device) + " on the device. The least that would do is " +
         readable(peak) + " (" + std::to_string(peak.value) + " bytes): " + plan + ", " +
         readable(least.step) + " a step.";
}

std::string infeasible_json(const Tuning& tuning) {
  JsonWriter json;
  json.begin_object().field("outcome", "out_of_memory").field("least_bytes", tuning.least_device());
  return json.end_object().text();
}

std::string comparison_text(const Tuning& tuning, const std::optional<TunedPlan>& best) {
  const TuneResult& result = tuning.result;
  Table table(4);
  table.row({"", "step", "device peak", "host peak"});
  table.row(cells("keep everything", result.null_run, result.null_fits ? "" : "does not fit"));
  if (best)
    table.row(cells("this plan", best->run, ""));
  else
    table.row(cells("least memory", result.least.run, "does not fit"));
  table.row({"budget", "", readable(tuning.budget.device), readable(tuning.budget.host)});
  return table.text();
}

std::string frontier_text(const TuneResult& result) {
  Table table(2);
  table.row({"device peak", "step", "the fastest settings with no more"});
  for (const FrontierPoint& point : thinned(result.frontier))
    table.row({readable(point.run.peaks.on_device()), readable(point.run.step), describe(point.settings)});
  return table.text();
}

std::string certainty(const Tuning& tuning) {
  const TuneResult& result = tuning.result;
  const std::string effort = std::to_string(result.considered) + " plans considered, " +
                             std::to_string(result.evaluated) + " of them simulated, in " +
                             readable(tuning.elapsed) + ". ";
  if (!result.best) return effort;
  if (result.optimal()) return effort + "No settings within the budget are faster.";
  return effort + "No settings within the budget take less than " + readable(result.bound) + ": at most " +
         percent(result.gap()) + " is left.";
}

}  // namespace stowage
