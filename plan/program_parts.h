// Programs made of a compiled one: the steps around the steady training step are parts and variants of it.
#pragma once

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"

namespace stowage {

// The step in which the optimizer first runs: its states on the device come to life as it begins. Cost: a
// copy of the program.
Program with_new_optimizer_state(Program program);

// The chain forward without saving anything for a backward, weights where the plan has them. Cost: that of
// compile().
Program compile_forward(const BlockTable& table, const Plan& plan);

}  // namespace stowage
