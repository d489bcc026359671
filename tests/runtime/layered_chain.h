// A chain whose blocks are rows of square linear layers, for everything that happens to weights.
//
//   x --entry--> state 0 --block 0..3--> state 4 --head--> mean square
//   block: x + dropout(c(gelu(b(gelu(a(x))))))        a, b, c: its layers, 16 x 16 and a bias
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/runtime/trainer.h"

namespace stowage {

enum class Tie : std::uint8_t {
  none,
  blocks,  // `a` of blocks 0 and 2 have one weight
  outer,   // entry, head and `b` of block 1 have one weight
};

struct LayeredVariant {
  bool lora = false;       // adapters on a frozen base, frozen entry and head
  bool quantised = false;  // int8 weights with scales, zero points and low-rank parts, frozen
  Tie tie = Tie::none;
  std::vector<std::uint32_t> order{0, 1, 2};  // in which layers run, whatever is declared
  bool silent = false;                        // blocks 1 and later do not say which layer runs
  // Whether a block does nothing in the n-th pass through the chain, from 0; the chain decides in the
  // prologue.
  std::function<bool(int pass, std::uint32_t block)> skips = {};
};

inline constexpr std::uint32_t layered_blocks = 4;

MakeChain layered_chain(const LayeredVariant& variant);
State layered_batch(int step);
Profile layered_profile(const LayeredVariant& variant, Device& device);

}  // namespace stowage
