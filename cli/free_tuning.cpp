#include "cli/free_tuning.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "cli/interrupt.h"
#include "cli/quantity.h"
#include "plan/segments.h"
#include "tuner/free/least_memory.h"

namespace stowage {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " block" + (count == 1 ? " " : "s ") + what;
}

// Blocks of a free plan by what happens to them.
struct Tally {
  std::size_t whole = 0, segments = 0, in_part = 0, offloaded = 0, swapped = 0;
  Bytes away;

  Tally(const BlockTable& table, const Plan& plan) {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const BlockDecision& block = plan.blocks[i];
      if (block.scope)
        ++in_part;
      else if (recomputed_whole(block))
        ++whole, segments += starts_segment(plan, i);
      for (std::uint32_t s : block.offload) away += table.storages_of(i)[s].bytes;
      if (block.offload_input) away += table.activation(i);
      offloaded += !block.offload.empty() || block.offload_input;
      swapped += block.weights != Residence::resident;
    }
  }
};

}  // namespace

double FreeTuning::gap() const {
  return best && free.bound ? gap_over(*free.bound, best->run.step) : 0;
}

FreeTuning run_free_tuning(const BlockTable& table, const Machine& machine, const Tuning& tuning,
                           unsigned threads) {
  FreeRequest request;
  request.budget = tuning.budget;
  request.threads = threads;
  request.cancelled = Interrupt::requested;
  const std::optional<TunedPlan>& settled = tuning.result.best;
  const auto begin = std::chrono::steady_clock::now();
  FreeTuning found;
  const Plan& start = settled ? settled->plan : tuning.result.least.plan;
  found.free = search_free(table, machine, request, {start});
  found.best = settled;
  if (found.free.best && (!settled || found.free.best->run.step < settled->run.step))
    found.best = found.free.best;
  if (!found.best)
    found.least = Interrupt::requested() ? tuning.result.least : least_memory(table, machine, request, start);
  if (found.least && fits(found.least->run.peaks, tuning.budget)) found.best = found.least;
  found.elapsed = {std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  if (found.best) found.best->plan.bound = found.free.bound;
  return found;
}

std::string summary(const BlockTable& table, const Plan& plan) {
  if (plan.settings) return describe(*plan.settings);
  const Tally tally(table, plan);
  std::vector<std::string> parts;
  if (tally.whole > 0)
    parts.push_back(counted(tally.whole, "recomputed in ") + std::to_string(tally.segments) +
                    (tally.segments == 1 ? " segment" : " segments"));
  if (tally.in_part > 0) parts.push_back(counted(tally.in_part, "recomputed in part"));
  if (tally.offloaded > 0)
    parts.push_back(readable(tally.away) + " of " + counted(tally.offloaded, "offloaded"));
  if (tally.swapped > 0) parts.push_back(counted(tally.swapped, "swapped"));
  if (tally.offloaded + tally.swapped > 0)
    parts.push_back("prefetch " + std::to_string(plan.transfer.prefetch));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "keep" : text;
}

std::string sentence(const BlockTable& table, const Tuning& tuning, const FreeTuning& found) {
  if (!found.best) return nothing_fits(tuning, found.least->run, summary(table, found.least->plan));
  if (!found.beyond_settings()) return sentence(tuning);
  const std::string begin =
      "The fastest plan found decides block by block: " + summary(table, found.best->plan) +
      ". A step takes " + readable(found.best->run.step) + "; ";
  if (!tuning.result.best) return begin + "no settings fit.";
  return begin + "the fastest settings that fit, " + describe(*tuning.result.best->plan.settings) +
         ", take " + readable(tuning.result.best->run.step) + ".";
}

std::string certainty(const Tuning& tuning, const FreeTuning& found) {
  const std::string effort = std::to_string(tuning.result.considered) + " settings considered, " +
                             std::to_string(tuning.result.evaluated + found.free.evaluated) +
                             " plans simulated, in " + readable(tuning.elapsed + found.elapsed) + ". ";
  if (!found.best) return effort;
  if (found.optimal()) return effort + "No plan within the budget is faster, with settings or without.";
  return effort + "No plan within the budget takes less than " + readable(*found.free.bound) + ": at most " +
         percent(found.gap()) + " is left.";
}

}  // namespace stowage
