// One block of the byte transformer: attention, then feed-forward, each on a normed copy of the stream.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

#include "runtime/chain.h"
#include "runtime/models/transformer_config.h"

namespace stowage {

struct LayerNorm {
  at::Tensor weight, bias;

  at::Tensor operator()(const at::Tensor& x) const;
};

// Low-rank addition to a frozen projection. `up` starts at zero, so that training starts from the base.
struct Adapter {
  at::Tensor down, up;
  double scale = 1;
};

// A layer of its block.
struct Projection {
  at::Tensor weight, bias;
  std::optional<Adapter> adapter;
  std::uint32_t layer = 0;

  at::Tensor operator()(const at::Tensor& x) const;
};

class TransformerBlock final : public ChainBlock {
 public:
  // Parameters are drawn from `random`, the CPU's, and live at `place`.
  TransformerBlock(const TransformerConfig& config, const at::Generator& random, c10::Device place);

  State forward(const State& input) override;
  BlockParameters parameters() const override;

 private:
  at::Tensor attend(const at::Tensor& x) const;
  at::Tensor feed_forward(const at::Tensor& x) const;

  std::int64_t heads_;
  double dropout_;
  LayerNorm attention_norm_, ffn_norm_;
  Projection qkv_, mix_, widen_, narrow_;
};

}  // namespace stowage
