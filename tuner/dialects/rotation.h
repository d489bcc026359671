// Blocks whose weights take turns on the device.
//
// A trainer that rotates keeps all but `away` blocks of a list on the device, always. In the forward pass it
// puts block i out once it has run, and block n - away + i into its place; in the backward pass the other way
// round. No plan does that. One is near, and takes no less memory: `away` + 1 blocks, evenly spread, of which
// each is brought while the one before it is in use. Its weights are stored after use, as a rotation copies
// both ways, and its copies are one more each pass. Where no more than two blocks stay there is next to no
// time to bring one in: then `away` blocks are brought when they are needed.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/range.h"
#include "tuner/dialects/dialect.h"

namespace stowage {

// A list of blocks, and how many of them are away.
struct Away {
  Range blocks;
  std::int64_t count;
};

// Adds the rotation of each list to the plan, and says so. Of each fewer are away than there are.
void rotate(Meaning& meaning, const std::vector<Away>& lists);
// `count` of the blocks, evenly spread, as `residence` says.
void spread(Plan& plan, Range blocks, std::int64_t count, Residence residence);

}  // namespace stowage
