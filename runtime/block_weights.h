// The weights of one block: a single storage, on the device or on the host.
//
// All tensors of `BlockParameters::weights` become views of it, each padded to 64 bytes, so that a swap is
// one copy. Residency is which memory the storage owns: it is exchanged underneath the tensors, so views that
// autograd saved follow.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "runtime/device.h"
#include "runtime/pinned_pool.h"

namespace stowage {

class BlockWeights {
 public:
  BlockWeights(std::vector<at::Tensor> weights, Device& device);
  BlockWeights(BlockWeights&&) = default;

  Bytes bytes() const { return bytes_; }
  bool resident() const { return resident_; }
  bool trained() const;
  const std::vector<at::Tensor>& tensors() const { return weights_; }

  // Between steps: moves them, and waits.
  void move_to_host();
  void move_to_device();

  // The copy on the host; only after they were moved there once.
  void* host() const { return host_.data(); }
  // Hands the device's memory over. The tensors must not be touched until put().
  c10::Storage take();
  void put(c10::Storage memory);
  // One tensor where it lives: itself, or as the host has it.
  at::Tensor where_it_lives(std::size_t index) const;

 private:
  std::vector<at::Tensor> weights_;
  Device* device_;
  c10::Storage storage_;
  Bytes bytes_;
  bool resident_ = true;
  HostBuffer host_;
};

}  // namespace stowage
