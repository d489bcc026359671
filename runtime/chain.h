// A model as the runtime sees it: a prologue, a chain of blocks, an epilogue that ends in a loss.
//
//   batch --prologue--> state 0 --block 0--> state 1 -- ... --block n-1--> state n --epilogue--> loss
//
// What flows between blocks is a State: one tensor, or several (joint streams, skip connections carried
// along).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "traces/profile.h"

namespace stowage {

using State = std::vector<at::Tensor>;

// A part of a block whose weights can come and go by themselves; the block's forward says where it begins,
// with begin_layer().
struct LayerParameters {
  std::string name;
  Scope scope = Scope::other;
  std::vector<at::Tensor> weights;  // which are among the block's
};

struct BlockParameters {
  // What a block swap moves; frozen, or trained. Quantised payloads (integers, scales, zero points, low-rank
  // parts) are as good as any other: they are moved as they are. What several parts of the chain name (tied
  // weights) stays on the device.
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> adapters;          // trained, and always on the device (LoRA)
  std::vector<LayerParameters> layers = {};  // in the order of the forward; empty: the block is not divided
};

class ChainBlock {
 public:
  virtual ~ChainBlock() = default;
  // A function of the input, the parameters and the random state alone: the runtime may call it again to
  // recompute. Marks its parts with in_scope().
  virtual State forward(const State& input) = 0;
  virtual BlockParameters parameters() const = 0;
  virtual std::string group() const { return ""; }  // blocks of one kind; "" where there is only one
};

class Chain {
 public:
  virtual ~Chain() = default;
  virtual std::vector<ChainBlock*> blocks() = 0;  // owned by the chain
  virtual State prologue(const State& batch) = 0;
  virtual at::Tensor epilogue(const State& output, const State& batch) = 0;
  virtual std::vector<at::Tensor> outer_parameters() const = 0;  // of prologue and epilogue
};

}  // namespace stowage
