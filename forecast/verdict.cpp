#include "forecast/verdict.h"

#include <cmath>
#include <cstdio>

#include "validation/published_figures.h"

namespace stowage {
namespace {

constexpr double repeats_within = 0.005, tells_apart = 0.01;
constexpr double full_from = 0.95, spilled_from = 1.5;

bool inside(const Estimate& estimate, double value) {
  return estimate.low <= value && value <= estimate.high;
}

std::string figure(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s", value, unit);
  return text;
}

std::string outside(const char* what, double measured, const Estimate& estimate, double unit,
                    const char* name) {
  return std::string(what) + ": measured " + figure(measured / unit, name) + ", forecast " +
         figure(estimate.middle / unit, name) + " (" + figure(estimate.low / unit, name) + " to " +
         figure(estimate.high / unit, name) + ")";
}

bool equals(const StepEvidence& evidence, const NullStep& null) {
  const double expected = evidence.expected.bytes.middle;
  const double measured = static_cast<double>(evidence.measured.peak.value);
  if (std::abs(expected / null.forecast.bytes.middle - 1) <= tells_apart) return false;
  if (!null.measured)
    return inside(null.forecast.bytes, measured) && !inside(evidence.expected.bytes, measured);
  const double away = std::abs(measured / static_cast<double>(null.measured->peak.value) - 1);
  return away <= repeats_within && away < std::abs(measured / expected - 1);
}

}  // namespace

StepJudgement judge(const StepEvidence& evidence) {
  const double bytes = static_cast<double>(evidence.measured.peak.value);
  const double seconds = seconds_of(evidence.measured.step);
  const RowForecast& expected = evidence.expected;
  StepJudgement judgement;
  if (seconds > spilled_from * expected.seconds.high &&
      bytes >= full_from * static_cast<double>(evidence.device.value)) {
    judgement.verdict = StepVerdict::spilled;
    judgement.reasons = {"the device is full, and the step takes " +
                         figure(seconds / expected.seconds.middle, "times") + " what was forecast"};
    return judgement;
  }
  for (const NullStep& null : evidence.nulls) {
    if (!equals(evidence, null)) continue;
    judgement.verdict = StepVerdict::no_effect;
    judgement.reasons = {outside("peak", bytes, expected.bytes, bytes_per_gib, "GiB") +
                         ", but it is that of " + null.name};
    return judgement;
  }
  if (!inside(expected.bytes, bytes))
    judgement.reasons.push_back(outside("peak", bytes, expected.bytes, bytes_per_gib, "GiB"));
  if (!inside(expected.seconds, seconds))
    judgement.reasons.push_back(outside("step", seconds, expected.seconds, 1, "s"));
  if (!judgement.reasons.empty()) judgement.verdict = StepVerdict::contradicts;
  return judgement;
}

}  // namespace stowage
