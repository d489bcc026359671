// Timelines as Chrome trace JSON, which Perfetto and chrome://tracing open.
#pragma once

#include <string>
#include <vector>

#include "traces/timeline.h"

namespace stowage {

// Each timeline becomes a process of its own, on one time axis: lanes as threads, stalls as a thread beside
// them, memory as counters, and an arrow from each copy that ended a stall to the step that had waited for
// it. Cost: n log n in the spans. Times are written as exact decimal microseconds.
std::string to_chrome_trace(const std::vector<Timeline>& timelines);

}  // namespace stowage
