// Which blocks a draft may swap so that about as many bytes of weights are away as it needs.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/block_table.h"
#include "tuner/free/draft.h"

namespace stowage {

// The last, the first, and blocks evenly over the chain: the fewest of each whose weights are `away` bytes,
// and a few more, since some are on the device to be used. Cost: quadratic in the blocks at worst.
std::vector<std::vector<std::uint32_t>> weight_sets(const BlockTable& table, Bytes away);

// Swaps these blocks, and no others: weights that change are stored after use.
void swap_weights(Draft& draft, const BlockTable& table, const std::vector<std::uint32_t>& blocks);

}  // namespace stowage
