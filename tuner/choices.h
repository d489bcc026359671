// The settings of a space, each effect once: settings that come to the same decisions are represented by the
// simplest of them.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/block_table.h"
#include "plan/settings.h"
#include "tuner/copy_costs.h"
#include "tuner/settings_space.h"
#include "tuner/swap_choice.h"

namespace stowage {

// Those of 1 .. `most` that intervals, strides and swap counts of a chain take, ascending, `most` among them:
// all where there are few.
std::vector<std::int64_t> list_values(std::int64_t most, std::uint32_t blocks);

// Policies, intervals, strides, segmentings and scopes that differ in what happens to some block's
// activations, simplest first; swap and transfers as by default. Cost: quadratic in the blocks, times their
// number.
std::vector<Settings> list_shapes(const BlockTable& table, const SettingsSpace& space);

// How many blocks a swap moves at most.
std::int64_t most_swapped(const BlockTable& table, const SettingsSpace& space);

// The swap that moves these blocks; its mode follows from them.
SwapChoice choose_swap(const BlockTable& table, const CopyCosts& costs, const SwapSettings& swap);

// Swaps that move different blocks, fewest first; the first moves none.
std::vector<SwapChoice> list_swaps(const BlockTable& table, const CopyCosts& costs,
                                   const SettingsSpace& space);

}  // namespace stowage
