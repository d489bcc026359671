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
  block.sizes = {{27 * mebi}, {270 * mebi * scale}, {2 * mebi}, {40 * mebi}, {90 * mebi}, {}, {}};
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
  profile.fixed = {{900 * mebi}, {0}, {27 * mebi}, {64 * mebi}, {500'000}, {800'000}, {9'000'000}};
  profile.blocks = {block("double", blocks / 3, 2), block("single", blocks - blocks / 3, 1)};
  return profile;
}

}  // namespace stowage::benchmarks
