// A curve in one line of characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traces/timeline.h"

namespace stowage {

// Each character stands for an equal part of [0, end), as high as the curve's highest level there against its
// peak: "▁▂▄█▆▃". Empty where there is no curve, or no time.
std::string sparkline(const std::vector<MemorySample>& curve, Nanos end, std::size_t columns);

}  // namespace stowage
