#include "runtime/models/transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "runtime/models/transformer_block.h"

namespace stowage {
namespace {

constexpr std::int64_t vocabulary = 256;  // bytes
constexpr double table_deviation = 0.02;

}  // namespace

Transformer::Transformer(const TransformerConfig& config, std::uint64_t seed, c10::Device place) {
  const at::Generator random = at::detail::createCPUGenerator(seed);
  const bool trained = !config.lora;
  const auto table = [&](std::int64_t rows) {
    return at::empty({rows, config.width})
        .normal_(0, table_deviation, random)
        .to(place)
        .set_requires_grad(trained);
  };
  embedding_ = table(vocabulary);
  positions_ = table(config.context);
  for (std::int64_t i = 0; i < config.layers; ++i)
    blocks_.push_back(std::make_unique<TransformerBlock>(config, random, place));
  norm_weight_ = at::ones({config.width}, place).set_requires_grad(trained);
  norm_bias_ = at::zeros({config.width}, place).set_requires_grad(trained);
  head_ = table(vocabulary);
}

Transformer::~Transformer() = default;

std::vector<ChainBlock*> Transformer::blocks() {
  std::vector<ChainBlock*> all;
  for (const auto& block : blocks_) all.push_back(block.get());
  return all;
}

State Transformer::prologue(const State& batch) {
  const at::Tensor& tokens = batch.at(0);
  return {at::embedding(embedding_, tokens) + positions_.narrow(0, 0, tokens.size(1))};
}

at::Tensor Transformer::epilogue(const State& output, const State& batch) {
  const at::Tensor normed = at::layer_norm(output.at(0), norm_weight_.sizes(), norm_weight_, norm_bias_);
  const at::Tensor scores = at::linear(normed, head_).view({-1, vocabulary});
  return at::cross_entropy_loss(scores, batch.at(1).view({-1}));
}

std::vector<at::Tensor> Transformer::outer_parameters() const {
  return {embedding_, positions_, norm_weight_, norm_bias_, head_};
}

}  // namespace stowage
