// Settings as JSON, for plans and for results.
#pragma once

#include "plan/settings.h"
#include "traces/json.h"

namespace stowage {

Settings read_settings(const JsonNode& node);
TransferSettings read_transfer(const JsonNode& node);
StepSettings read_step(const JsonNode& node);
void write_settings(JsonWriter& json, const Settings& settings);
void write_transfer(JsonWriter& json, const TransferSettings& transfer);
void write_step(JsonWriter& json, const StepSettings& step);

}  // namespace stowage
