// A chain that is another one but for what is done around its blocks.
#pragma once

#include <string>
#include <vector>

#include "runtime/chain.h"

namespace stowage {

// A block that is another one but for its forward. `inner` must outlive it.
class WrappedBlock : public ChainBlock {
 public:
  explicit WrappedBlock(ChainBlock& inner) : inner_(inner) {}
  BlockParameters parameters() const override { return inner_.parameters(); }
  std::string group() const override { return inner_.group(); }

 protected:
  ChainBlock& inner_;
};

// Leaves the blocks to who derives from it. `inner` must outlive it.
class WrappedChain : public Chain {
 public:
  explicit WrappedChain(Chain& inner) : inner_(inner) {}
  State prologue(const State& batch) override { return inner_.prologue(batch); }
  at::Tensor epilogue(const State& output, const State& batch) override {
    return inner_.epilogue(output, batch);
  }
  std::vector<at::Tensor> outer_parameters() const override { return inner_.outer_parameters(); }

 protected:
  Chain& inner_;
};

}  // namespace stowage
