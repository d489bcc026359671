// How a family is trained, as far as it decides what a step costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/families.h"

namespace stowage {

// How frozen weights are held. fp8 quantises what enters each projection as well; fp8_weights and int8 are
// for weights alone.
enum class Precision : std::uint8_t { bf16, int8, fp8, fp8_weights, nf4 };
inline constexpr int precision_count = 5;

// Of a published table's name ("int8-sdnq-hadamard"), or of the command line's ("int8"). Absent: not known.
std::optional<Precision> precision_of(std::string_view name);
std::string_view name_of(Precision precision);
std::vector<std::string> precision_names();

// Bytes of a frozen weight.
double bytes_per_weight(Precision precision);
// Bytes of a weight that is trained, with its gradient and what the optimizer keeps of it:
//   adamw       bf16 weight, gradient, two moments and the rounding that was lost   2 + 2 + 2 + 2 + 2
//   adamw_fp32  all in fp32                                                         4 + 4 + 4 + 4
//   adamw_8bit  bf16 weight and gradient, moments of a byte                         2 + 2 + 1 + 1
//   lion        bf16 weight, gradient, one moment and the rounding that was lost    2 + 2 + 2 + 2
//   adafactor   bf16 weight and gradient, moments by rows and columns               2 + 2
//   sgd         bf16 weight and gradient                                            2 + 2
// The first and the fourth are SimpleTuner's adamw_bf16 and optimi-lion; of bitsandbytes, the third.
double bytes_per_trained(OptimizerKind optimizer);
// Of these, the gradient and the optimizer's states.
double gradient_bytes(OptimizerKind optimizer);
double state_bytes(OptimizerKind optimizer);

struct TrainedShape {
  Recipe recipe;
  Precision precision = Precision::bf16;
  bool flash_attention = true;  // false: scores of all pairs of tokens are made and kept

  bool operator==(const TrainedShape&) const = default;
};

}  // namespace stowage
