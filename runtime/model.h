// A chain on a device, with its parameters laid out for the runtime. Lives as long as training does.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "runtime/block_weights.h"
#include "runtime/chain.h"
#include "runtime/device.h"
#include "runtime/saved_tensors.h"

namespace stowage {

class Model {
 public:
  // Moves each block's weights into one storage, and allocates gradients for the outer parameters. Throws
  // InputError where a parameter belongs to two blocks, or to one and the outside.
  Model(Chain& chain, Device& device);
  Model(const Model&) = delete;

  Chain& chain() { return chain_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  ChainBlock& block(std::uint32_t i) { return *blocks_[i]; }
  BlockWeights& weights(std::uint32_t i) { return weights_[i]; }
  const std::unordered_set<StorageKey>& parameter_storages() const { return parameter_storages_; }

  // A parameter that wants gradients.
  struct Trained {
    at::Tensor parameter;
    std::optional<std::uint32_t> block;  // absent: outer
    std::optional<std::size_t> weight;   // among the block's weights; absent: an adapter, or outer
    at::Tensor outer_gradient;           // outer parameters: its place for good
    bool has_outer_gradient = false;     // in this step
  };
  // The last block first, since that is the order in which gradients are complete; outer ones at the end.
  const std::vector<Trained>& trained() const { return trained_; }
  // Undefined where the step gave it none.
  at::Tensor gradient(const Trained& trained) const;
  // As the parameter is now, on the device or on the host.
  at::Tensor value(const Trained& trained) const;

  // Adds what autograd left in the outer parameters to their gradients' own place.
  void collect_outer_gradients();
  void drop_gradients(std::uint32_t block);
  void drop_gradients();

 private:
  void list_trained(const std::vector<BlockParameters>& parameters);

  Chain& chain_;
  std::vector<ChainBlock*> blocks_;
  std::vector<BlockWeights> weights_;
  std::vector<Trained> trained_;
  std::unordered_set<StorageKey> parameter_storages_;
};

}  // namespace stowage
