// The chain of the worked example: four equal blocks, links at 1 byte a nanosecond.
#pragma once

#include "traces/profile.h"

namespace stowage {

inline Profile example_profile(std::int64_t blocks = 4) {
  BlockProfile block;
  block.name = "block";
  block.count = blocks;
  block.times.forward = {10};
  block.times.backward = {20};
  block.sizes = {.input = {2},
                 .weight = {5},
                 .gradient = {1},
                 .forward_workspace = {3},
                 .backward_workspace = {4},
                 .dropped_workspace = {},
                 .scope_input = {},
                 .scope_dropped_workspace = {},
                 .scope_workspace = {}};
  block.saved = {{"qkv", {12}, Scope::attention, {}, {}}, {"hidden", {8}, Scope::ffn, {}, {}}};
  Profile profile;
  profile.name = "example";
  profile.fixed.resident = {100};
  profile.fixed.output = {2};
  profile.fixed.epilogue = {6};
  profile.fixed.optimizer = {4};
  profile.blocks = {block};
  return profile;
}

}  // namespace stowage
