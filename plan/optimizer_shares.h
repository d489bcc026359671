// How an optimizer step that goes block by block divides: by the bytes of each block's gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "traces/units.h"

namespace stowage {

struct OptimizerShare {
  std::optional<std::uint32_t> block;  // absent: all of it, where no block has gradients
  Nanos time;
  Bytes state;
};

// Of each block that has gradients, in the order of blocks; they add up to the whole. Cost: linear.
std::vector<OptimizerShare> optimizer_shares(const BlockTable& table);

}  // namespace stowage
