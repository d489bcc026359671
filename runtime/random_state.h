// Where the random generator stands, to run a forward again with the same draws.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <optional>

namespace stowage {

// The default generator of the CPU. Held by value: LibTorch's own form of the state is a tensor, which would
// count as device memory here. About 5 KB; taking or putting back costs about a microsecond.
class RandomState {
 public:
  static RandomState now();
  void put_back() const;

 private:
  at::mt19937 engine_;
  std::optional<float> next_float_;  // of a pair of normal draws, the one not handed out yet
  std::optional<double> next_double_;
};

}  // namespace stowage
