// What a search found, as one JSON object: for --json, and for other programs.
#pragma once

#include <optional>
#include <string>

#include "cli/free_tuning.h"
#include "cli/tuning.h"
#include "traces/profile.h"

namespace stowage {

// `free` absent: only settings were searched. Without a plan that fits there is no "plan", but "least_bytes".
std::string tuning_json(const Tuning& tuning, const std::optional<FreeTuning>& free, const Profile& profile);

}  // namespace stowage
