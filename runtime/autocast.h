// LibTorch's automatic choice of types, as a step sees it.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>

namespace stowage {

// What this thread has chosen, for the CPU and for CUDA devices.
class AutocastState {
 public:
  static AutocastState now();
  void put_back() const;

 private:
  struct Choice {
    bool enabled;
    at::ScalarType type;
  };
  std::array<Choice, 2> choices_;
};

// Where autocast is on, LibTorch keeps each parameter in its other type until it is switched off: memory that
// no plan counts, and a recomputation that would find casts that its forward had to make. To be called at the
// end of each part of the chain; within a part casts are shared as ever, so that gradients stay the same.
void forget_casts();

}  // namespace stowage
