#include "cli/correction_text.h"

#include <cmath>

#include "cli/prediction.h"
#include "cli/quantity.h"

namespace stowage {
namespace {

// Less is not worth a word: a fiftieth of the step.
constexpr std::int64_t telling_share = 50;

std::string title_of(const Drift& drift) {
  if (drift.lane != Lane::compute) return std::string("all copies on ") + name_of(drift.lane) + " together";
  Step step{};
  step.kind = drift.kind;
  step.block = drift.block;
  return stowage::title_of(step);
}

}  // namespace

std::string drift_sentence(const Observation& seen, const std::vector<Drift>& drift) {
  const Nanos predicted = seen.predicted.step, measured = seen.step();
  std::string text = "After " + std::to_string(seen.measured.size()) + " steps: " + readable(measured) +
                     " a step, " + readable(predicted) + " were predicted";
  if (drift.empty()) return text + ".";
  const Drift& most = drift.front();
  const Nanos off{std::abs((most.measured - most.predicted).value)};
  if (off.value < predicted.value / telling_share) return text + ".";
  return text + "; the most that one piece is off by: " + title_of(most) + ", " + readable(most.measured) +
         " instead of " + readable(most.predicted) + ".";
}

std::string decision_sentence(const Correction& correction) {
  if (!correction.better) return "No other plan would be faster by enough to change.";
  return "Changing the plan to " + describe(*correction.better->plan.settings) +
         ": with what was measured, " + readable(correction.better->run.step) + " a step instead of " +
         readable(correction.now.step) + ".";
}

std::string inert_sentence(const Inert& inert) {
  return inert.setting + " had no effect: what was measured is as predicted without it (" +
         readable(inert.without.step) + ", " + readable(inert.without.peaks.device) + "), not with it (" +
         readable(inert.with.step) + ", " + readable(inert.with.peaks.device) + ")";
}

void write_correction(JsonWriter& json, const Observation& seen, const std::optional<Correction>& correction,
                      const std::vector<Inert>& inert) {
  json.begin_object()
      .field("steps", static_cast<std::int64_t>(seen.measured.size()))
      .field("predicted_step_ns", seen.predicted.step)
      .field("measured_step_ns", seen.step());
  if (correction) {
    json.field("corrected_step_ns", correction->now.step);
    json.key("changed_to");
    if (correction->better)
      json.value(describe(*correction->better->plan.settings));
    else
      json.null();
  }
  std::vector<std::string> names;
  for (const Inert& each : inert) names.push_back(each.setting);
  write_texts(json, "no_effect", names);
  json.end_object();
}

}  // namespace stowage
