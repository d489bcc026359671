// Small chains of every shape of state, on real LibTorch autograd.
//
//   one     {x}                  four transformer blocks
//   joint   {image, text}        four blocks with joint attention; each changes both streams
//   skips   {x}, {x, s}, {x, s, t}, {x, s}, {x}
//           a U: two blocks halve the tokens and put what they had into the state, two take it out again
//
// Their attention and feed-forward parts are marked with in_scope().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/runtime/trainer.h"

namespace stowage {

enum class StateShape : std::uint8_t { one, joint, skips };

// `autocast`: float parameters; the caller lets LibTorch choose bfloat16 where it computes.
enum class Precision : std::uint8_t { fp32, bf16, autocast };

struct ChainVariant {
  StateShape shape = StateShape::one;
  Precision precision = Precision::fp32;
  bool dropout = false;  // p = 0.5
  bool lora = false;     // adapters on a frozen base, frozen prologue and epilogue
};

// All of them, each flag off and on.
std::vector<ChainVariant> every_chain();
// "joint bf16 dropout lora"
std::string name_of(const ChainVariant& variant);

inline constexpr std::uint32_t chain_blocks = 4;

// Equal parameters each time it is called; the random state stays as it is.
MakeChain make_chain(const ChainVariant& variant);
// Another batch for each step.
State chain_batch(int step);

// For its lifetime, LibTorch chooses bfloat16 on the CPU where the variant says so.
class PrecisionGuard {
 public:
  explicit PrecisionGuard(const ChainVariant& variant);
  ~PrecisionGuard();
  PrecisionGuard(const PrecisionGuard&) = delete;

 private:
  bool active_;
};

}  // namespace stowage
