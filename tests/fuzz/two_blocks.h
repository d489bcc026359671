// The profile that the plans in corpus/plan are for.
#pragma once

#include "traces/profile.h"

namespace stowage {

inline Profile two_blocks() {
  BlockProfile block;
  block.name = "block";
  block.count = 2;
  block.sizes.input = {2};
  block.saved = {{"qkv", {12}, Scope::attention, {}, {}}, {"hidden", {8}, Scope::ffn, {}, {}}};
  Profile profile;
  profile.name = "two";
  profile.blocks = {block};
  return profile;
}

}  // namespace stowage
