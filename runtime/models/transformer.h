// A decoder-only transformer on bytes, as a chain: what Stowage trains where nobody brings a model.
//
//   bytes --embedding + positions--> [B, T, W] --block 0--> ... --block n-1--> [B, T, W] --norm, head--> loss
//
//   block:  x + dropout(attention(norm(x)))   scope `attention`, causal
//           x + dropout(ffn(norm(x)))         scope `ffn`, GELU
//
// A batch is {tokens, targets}, both int64 [B, T], as Corpus draws them. Everything is float32.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/chain.h"
#include "runtime/models/transformer_config.h"

namespace stowage {

class TransformerBlock;

class Transformer final : public Chain {
 public:
  // Parameters follow from the configuration and the seed alone, wherever they live; torch's own random state
  // stays as it is.
  Transformer(const TransformerConfig& config, std::uint64_t seed, c10::Device place = c10::DeviceType::CPU);
  ~Transformer() override;

  std::vector<ChainBlock*> blocks() override;
  State prologue(const State& batch) override;
  at::Tensor epilogue(const State& output, const State& batch) override;
  std::vector<at::Tensor> outer_parameters() const override;

 private:
  at::Tensor embedding_, positions_, norm_weight_, norm_bias_, head_;
  std::vector<std::unique_ptr<TransformerBlock>> blocks_;
};

}  // namespace stowage
