// What a measured step says of the settings it was made with.
//
//   no effect    the peak is that of a simpler plan, though it should differ: of keeping everything, or of
//                recomputing every block where an interval was asked for
//   spilled      the device is full and the step far longer than forecast: memory went to the host, as
//                Windows and WSL2 do without a word
//   contradicts  a figure is outside its interval: which, and by how much
//   as forecast
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forecast/sweep_forecast.h"

namespace stowage {

enum class StepVerdict : std::uint8_t { as_forecast, no_effect, spilled, contradicts };

// What the step would be if the settings did nothing.
struct NullStep {
  std::string name;  // "keeping everything"
  RowForecast forecast;
  std::optional<Reading> measured;  // of the same run
};

struct StepEvidence {
  RowForecast expected;  // of the settings
  std::vector<NullStep> nulls;
  Reading measured;
  Bytes device;  // what the step may use of it
};

struct StepJudgement {
  StepVerdict verdict = StepVerdict::as_forecast;
  std::vector<std::string> reasons;
};

// Peaks repeat to a part in two hundred, and a forecast tells apart what differs by more than a hundredth:
// against a null step that was measured an option without effect is known by both, and by being nearer to it
// than to its own forecast; without one only where the measured peak is within the null's interval and
// outside its own.
StepJudgement judge(const StepEvidence& evidence);

}  // namespace stowage
