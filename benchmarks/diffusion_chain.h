// The chain that benchmarks run on, as large diffusion transformers have it.
#pragma once

#include <cstdint>
#include <string>

#include "traces/profile.h"

namespace stowage::benchmarks {

inline constexpr std::int64_t mebi = 1 << 20;

inline BlockProfile block(const char* group, std::int64_t count, std::int64_t scale) {
  BlockProfile block;
  block.name = std::string(group) + ".0";
  block.group = group;
  block.count = count;
  block.times.forward = {3'100'000 * scale};
  block.times.backward = {6'400'000 * scale};
  block.sizes.input = {27 * mebi};
  block.sizes.weight = {270 * mebi * scale};
  block.sizes.gradient = {2 * mebi};
  block.sizes.forward_workspace = {40 * mebi};
  block.sizes.backward_workspace = {90 * mebi};
  block.saved = {{"norm", {27 * mebi}, Scope::attention, {}, {}},
                 {"qkv", {81 * mebi}, Scope::attention, {}, {}},
                 {"context", {27 * mebi}, Scope::attention, {}, {}},
                 {"hidden", {108 * mebi}, Scope::ffn, {}, {}}};
  return block;
}

// Two kinds of blocks, one to two, as large diffusion transformers have them.
inline Profile chain(std::int64_t blocks) {
  Profile profile;
  profile.name = "chain";
  profile.fixed.resident = {900 * mebi};
  profile.fixed.output = {27 * mebi};
  profile.fixed.epilogue_bytes = {64 * mebi};
  profile.fixed.prologue = {500'000};
  profile.fixed.epilogue = {800'000};
  profile.fixed.optimizer = {9'000'000};
  profile.blocks = {block("double", blocks / 3, 2), block("single", blocks - blocks / 3, 1)};
  return profile;
}

}  // namespace stowage::benchmarks
