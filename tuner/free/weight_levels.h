// How many bytes of weights may be away from the device at once: the sums that choices of blocks come to.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "traces/units.h"

namespace stowage {

// Sums within a range: what holds of all of them holds of `least` where copies are counted, and of `most`
// where room is.
struct WeightLevel {
  Bytes least, most;
};

// Rising, together all sums; each sum by itself where they are few and no layers stream. Cost: linear in the
// sums, of which no more than some thousands are kept apart.
std::vector<WeightLevel> weight_levels(const BlockTable& table);

}  // namespace stowage
