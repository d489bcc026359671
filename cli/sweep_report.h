// A predicted sweep, for people and as JSON.
#pragma once

#include <string>

#include "forecast/sweep_forecast.h"
#include "traces/json.h"
#include "validation/sweep.h"

namespace stowage {

// "0.37 %", "+0.37 %".
std::string hundredths(double share);
std::string signed_hundredths(double share);
// GiB as tables print them, with two digits more.
double rounded_gib(Bytes bytes);

// The sentence, a line for each family, what had no effect, and the predictions that are furthest off; empty
// where there is nothing to tell.
std::string sentence(const SweepReport& report);
std::string families_text(const SweepReport& report);
std::string inert_text(const SweepReport& report);
std::string worst_text(const SweepReport& report, std::size_t count);

void write(JsonWriter& json, const ErrorFigures& figures);
// The keys `memory`, `time`, `inert` and `rows`, into an object that is open.
void write(JsonWriter& json, const SweepReport& report);

// How far a forecast is off, by the shares within the bounds that matter to people, and how often its
// intervals hold.
std::string sentence(const SweepForecast& forecast);
// The shares of the sentence, as an object.
void write_shares(JsonWriter& json, const SweepForecast& forecast);
// The same keys as of a report, with those shares as `within`, and each row's interval.
void write(JsonWriter& json, const SweepForecast& forecast);

}  // namespace stowage
