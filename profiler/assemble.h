// Turns readings into a profile, so that the execution model gives back what was read.
//
// A workspace is what a step needs beyond what the model lets it allocate anyway:
//
//   F_i   rise - X_{i+1} - S_i             (saving nothing: rise - X_{i+1})
//         (dropping one scope: rise - X_{i+1} - what the others save - what the scope starts from)
//   R_i   of one scope: rise - what it saves
//   E     rise - X_n
//   B_i   rise - gradient - gradient of X_i      the latter only for i > 0; below 0 it is relief
//
// and never below 0. Of X_{i+1} and the gradient of X_i only what the block makes counts, not what it hands
// on. A layer's workspace is the most that these take while it runs. The prologue's backward runs within B_0,
// so its workspace is B_0's. Resident is what lives when F_0 begins, less X_0, the weights of the blocks,
// which may be swapped, and the optimizer's state.
#pragma once

#include <string>
#include <vector>

#include "profiler/readings.h"
#include "traces/profile.h"

namespace stowage {

struct Assembled {
  Profile profile;
  // Where readings contradict the model: "block.3 keeps 4096 bytes that autograd did not report".
  std::vector<std::string> warnings;
};

// Times are medians over the repeats; those of layers are cut evenly to what their block, and their scope,
// took. Layers of which nothing was read are left out. Blocks stay apart even where they are equal: their
// times never are.
Assembled assemble(const Inventory& inventory, const ChainReadings& readings);

}  // namespace stowage
