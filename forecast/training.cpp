#include "forecast/training.h"

#include <array>

#include "traces/error.h"

namespace stowage {
namespace {

// Each with the beginning of its names in the published tables.
constexpr std::array<std::string_view, precision_count> precision_words{"bf16", "int8", "fp8", "fp8wo",
                                                                        "nf4"};

}  // namespace

std::optional<Precision> precision_of(std::string_view name) {
  if (name == "fp8-native") return Precision::fp8_weights;
  const std::string_view word = name.substr(0, name.find('-'));
  for (std::size_t i = 0; i < precision_words.size(); ++i)
    if (word == precision_words[i]) return static_cast<Precision>(i);
  return std::nullopt;
}

std::string_view name_of(Precision precision) {
  return precision_words[static_cast<std::size_t>(precision)];
}

std::vector<std::string> precision_names() {
  return {precision_words.begin(), precision_words.end()};
}

double bytes_per_weight(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return 2;
    case Precision::nf4:
      return 0.5 + 4.0 / 64;  // a scale of fp32 for each 64
    case Precision::int8:
    case Precision::fp8:
    case Precision::fp8_weights:
      return 1;
  }
  throw DefectError("a value outside its enumeration");
}

double gradient_bytes(OptimizerKind optimizer) {
  return optimizer == OptimizerKind::adamw_fp32 ? 4 : 2;
}

double state_bytes(OptimizerKind optimizer) {
  switch (optimizer) {
    case OptimizerKind::adamw:
      return 6;
    case OptimizerKind::adamw_fp32:
      return 8;
    case OptimizerKind::adamw_8bit:
      return 2;
    case OptimizerKind::lion:
      return 4;
    case OptimizerKind::adafactor:
    case OptimizerKind::sgd:
      return 0;
  }
  throw DefectError("a value outside its enumeration");
}

double bytes_per_trained(OptimizerKind optimizer) {
  const double weight = optimizer == OptimizerKind::adamw_fp32 ? 4 : 2;
  return weight + gradient_bytes(optimizer) + state_bytes(optimizer);
}

}  // namespace stowage
