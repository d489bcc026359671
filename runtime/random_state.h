// Where the random generators stand, to run a forward again with the same draws.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace stowage {

// The default generator of the CPU, and those of devices that a DeviceGenerator tells of. The CPU's is held
// by value: LibTorch's own form of its state is a tensor, which would count as device memory here. About 5
// KB; taking or putting back costs about a microsecond.
class RandomState {
 public:
  static RandomState now();
  void put_back() const;

 private:
  at::mt19937 engine_;
  std::optional<float> next_float_;  // of a pair of normal draws, the one not handed out yet
  std::optional<double> next_double_;
  std::vector<at::Tensor> of_devices_;
};

// For its lifetime, a RandomState that is taken has the state of this generator too; one is put back while
// the same generators are told of as when it was taken.
class DeviceGenerator {
 public:
  explicit DeviceGenerator(at::Generator generator);
  ~DeviceGenerator();
  DeviceGenerator(const DeviceGenerator&) = delete;

 private:
  const at::Generator generator_;
};

}  // namespace stowage
