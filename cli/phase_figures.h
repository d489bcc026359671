// The phases of a run, told.
#pragma once

#include <string>
#include <vector>

#include "simulator/phases.h"
#include "traces/json.h"

namespace stowage {

// A table: each phase's peaks, what does not fit, and which phase needs most of what.
std::string phases_text(const std::vector<RunPhase>& phases);

// `phases`: for each its name, outcome and peaks; `worst_phases`: by memory, the phase that needs most.
void write_phases(JsonWriter& json, const std::vector<RunPhase>& phases);

}  // namespace stowage
