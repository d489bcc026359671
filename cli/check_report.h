// Published tables against the simulator, for people and as JSON.
#pragma once

#include <string>

#include "traces/json.h"
#include "validation/published_check.h"

namespace stowage {

// A line for each row, and one for the figures.
std::string text_of(const PublishedCheck& check);
// An object with `name`, `memory`, `time` and `rows`.
void write(JsonWriter& json, const PublishedCheck& check);

}  // namespace stowage
