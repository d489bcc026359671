// One step as plain LibTorch does it: a single graph over the whole chain. What every plan must equal.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "runtime/chain.h"

namespace stowage {

// Forward and backward; gradients are left in the parameters. Returns the loss.
double plain_step(Chain& chain, const State& batch);

// All parameters that want gradients, in the order of Executor::trained(): what one block has to itself, the
// last block first, then what is outside, then what blocks share.
std::vector<at::Tensor> trained_parameters(Chain& chain);

}  // namespace stowage
