// When a plan needs swapped weights on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/compute_order.h"
#include "plan/plan.h"
#include "plan/program_builder.h"
#include "plan/range.h"

namespace stowage {

// Compute steps during which weights must be on the device: of a swapped block, or of one streamed layer.
struct WeightUse {
  std::uint32_t block;
  std::optional<std::uint32_t> layer;
  Range steps;
};

// Of one pass, in the order in which they begin; two in a row of one block, or layer, are one. A layer that
// is kept has one use from the forward pass to the backward. Cost: of sorting the uses.
std::vector<WeightUse> weight_uses(const BlockTable& table, const Plan& plan, const Pass& pass,
                                   const ProgramBuilder& builder);

}  // namespace stowage
