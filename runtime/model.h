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
  // Moves each block's weights into one storage, and allocates gradients for the outer parameters. What
  // several parts of the chain share (tied weights) is nobody's: it stays on the device as outer parameters
  // do. Throws InputError where a part names a parameter twice.
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
    std::optional<std::uint32_t> block;  // absent: outer, or shared
    std::optional<std::size_t> weight;   // among the block's weights; absent: an adapter, or outer
    at::Tensor outer_gradient;           // of those without a block: its place for good
    bool has_outer_gradient = false;     // in this step
    bool has_earlier = false;            // in it, of an earlier micro-batch
    int parts = 0;                       // that the first micro-batch made it of
    at::Tensor earlier = {};             // of a block: the sum over earlier micro-batches, while one is made
  };
  // The last block first, since that is the order in which gradients are complete; then outer ones, then what
  // blocks share.
  const std::vector<Trained>& trained() const { return trained_; }
  // Undefined where the step gave it none.
  at::Tensor gradient(const Trained& trained) const;
  // As the parameter is now, on the device or on the host.
  at::Tensor value(const Trained& trained) const;

  // Throws InputError where the block has trained parameters to itself, and its backward, which has just
  // ended, gave none of them a gradient: it would go on untrained, and nobody would know.
  void check_gradients(std::uint32_t block) const;

  // Of what the block has to itself.
  Bytes gradient_bytes(std::uint32_t block) const;

  // Adds what autograd left in parameters without a block to their gradients' own place. Of a later
  // micro-batch, what several parts of the chain make is added up by itself first, as in one whole graph.
  void collect_outer_gradients(bool micro_batch_ends);
  // The backward of a later micro-batch makes gradients of its own, which are added when it ends.
  void set_gradients_aside(std::uint32_t block);
  void add_up_gradients(std::uint32_t block);
  void drop_gradients(std::uint32_t block);
  void drop_gradients();

 private:
  void list_trained(const std::vector<BlockParameters>& parameters, const std::vector<at::Tensor>& shared);

  Chain& chain_;
  std::vector<ChainBlock*> blocks_;
  std::vector<BlockWeights> weights_;
  std::vector<Trained> trained_;
  std::unordered_set<StorageKey> parameter_storages_;
};

}  // namespace stowage
