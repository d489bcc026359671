// Timelines as a table, for spreadsheets and data frames.
#pragma once

#include <string>
#include <vector>

#include "traces/timeline.h"

namespace stowage {

// Comma-separated values as RFC 4180 has them, a line of column names first:
//
//   timeline,source,name,kind,lane,what,block,storage,begin_ns,end_ns,bytes
//
// `timeline` counts from 0. `kind` is "span" (`what` names the step), "stall" (on the compute lane; `what` is
// its cause) or "memory" (`lane` is "device" or "host"; `bytes` are in use from begin to end, the last ones
// to the end of the step or for no time after it). Cells that do not apply are empty. Cost: linear.
std::string to_csv(const std::vector<Timeline>& timelines);

}  // namespace stowage
