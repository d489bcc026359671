// Where what outlives a step lives between steps.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"

namespace stowage {

// The weights of blocks, in their order; where layers stream each has a buffer of its own, before what stays.
// Cost: linear.
std::vector<Buffer> weight_homes(const BlockTable& table, const Plan& plan);

Buffer optimizer_home(const BlockTable& table, const Plan& plan);

}  // namespace stowage
