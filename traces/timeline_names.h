// The words of timelines, each list in the order of its enumeration.
#pragma once

#include <array>
#include <string_view>

#include "traces/timeline.h"

namespace stowage {

inline constexpr std::array<std::string_view, lane_count> lane_names = {"compute", "h2d", "d2h", "disk_read",
                                                                        "disk_write"};
inline constexpr std::array<std::string_view, 15> step_names = {
    "prologue",     "forward",       "epilogue",       "recompute",   "backward",
    "optimizer",    "store_saved",   "restore_saved",  "store_input", "restore_input",
    "load_weights", "store_weights", "store_gradient", "load_state",  "store_state"};
inline constexpr std::array<std::string_view, stall_cause_count> stall_names = {
    "restore", "weights", "store", "drain", "pageable", "pinning", "disk"};

}  // namespace stowage
