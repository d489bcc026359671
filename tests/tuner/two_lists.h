// A chain of two groups of blocks, as many trainers' models are.
#pragma once

#include <cstdint>

#include "tests/plan/chain_profile.h"

namespace stowage {

// Frozen blocks of 40 B of weights in the first group, of 20 B in the second.
inline Profile two_lists(std::int64_t first, std::int64_t second) {
  Profile profile = example_profile(first);
  profile.blocks.push_back(profile.blocks.front());
  profile.blocks[0].group = "double";
  profile.blocks[0].sizes.weight = {40};
  profile.blocks[1].name = "single";
  profile.blocks[1].group = "single";
  profile.blocks[1].count = second;
  profile.blocks[1].sizes.weight = {20};
  return profile;
}

}  // namespace stowage
