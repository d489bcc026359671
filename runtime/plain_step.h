// One step as plain LibTorch does it: a single graph over the whole chain. What every plan must equal.
#pragma once

#include "runtime/chain.h"

namespace stowage {

// Forward and backward; gradients are left in the parameters. Returns the loss.
double plain_step(Chain& chain, const State& batch);

}  // namespace stowage
