#include "runtime/models/transformer_block.h"

#include <ATen/ATen.h>

#include <cmath>

#include "runtime/layer.h"
#include "runtime/scope.h"

namespace stowage {
namespace {

constexpr double base_deviation = 0.02;
constexpr const char* layer_names[] = {"qkv", "mix", "widen", "narrow"};

LayerNorm make_norm(std::int64_t width, bool trained, c10::Device place) {
  return {at::ones({width}, place).set_requires_grad(trained),
          at::zeros({width}, place).set_requires_grad(trained)};
}

// Draws what a block's projections start from.
class Initializer {
 public:
  Initializer(const TransformerConfig& config, const at::Generator& random, c10::Device place)
      : lora_(config.lora), random_(random), place_(place) {}

  Projection projection(std::int64_t in, std::int64_t out, double deviation) {
    const bool trained = !lora_;
    Projection made{normal(out, in, deviation).set_requires_grad(trained),
                    at::zeros({out}, place_).set_requires_grad(trained),
                    {}};
    if (lora_) {
      const double down_deviation = 1 / std::sqrt(static_cast<double>(in));
      made.adapter = Adapter{normal(lora_->rank, in, down_deviation).set_requires_grad(true),
                             at::zeros({out, lora_->rank}, place_).set_requires_grad(true),
                             lora_->alpha / static_cast<double>(lora_->rank)};
    }
    return made;
  }

 private:
  at::Tensor normal(std::int64_t rows, std::int64_t columns, double deviation) {
    return at::empty({rows, columns}).normal_(0, deviation, random_).to(place_);
  }

  std::optional<LoraConfig> lora_;
  at::Generator random_;
  c10::Device place_;
};

}  // namespace

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias);
}

at::Tensor Projection::operator()(const at::Tensor& x) const {
  begin_layer(layer);
  const at::Tensor base = at::linear(x, weight, bias);
  if (!adapter) return base;
  return base + at::linear(at::linear(x, adapter->down) * adapter->scale, adapter->up);
}

TransformerBlock::TransformerBlock(const TransformerConfig& config, const at::Generator& random,
                                   c10::Device place)
    : heads_(config.heads), dropout_(config.dropout) {
  const std::int64_t width = config.width, hidden = config.width * config.ffn_multiple;
  // The stream sums 2 * layers additions, which the projections that end them make up for.
  const double last_deviation = base_deviation / std::sqrt(2.0 * static_cast<double>(config.layers));
  Initializer draw(config, random, place);
  attention_norm_ = make_norm(width, !config.lora, place);
  qkv_ = draw.projection(width, 3 * width, base_deviation);
  mix_ = draw.projection(width, width, last_deviation);
  ffn_norm_ = make_norm(width, !config.lora, place);
  widen_ = draw.projection(width, hidden, base_deviation);
  narrow_ = draw.projection(hidden, width, last_deviation);
  std::uint32_t layer = 0;
  for (Projection* projection : {&qkv_, &mix_, &widen_, &narrow_}) projection->layer = layer++;
}

State TransformerBlock::forward(const State& input) {
  const State attended =
      in_scope(Scope::attention, {input.at(0)}, [this](const State& in) -> State { return {attend(in[0])}; });
  return in_scope(Scope::ffn, attended, [this](const State& in) -> State { return {feed_forward(in[0])}; });
}

BlockParameters TransformerBlock::parameters() const {
  BlockParameters all;
  for (const LayerNorm* norm : {&attention_norm_, &ffn_norm_})
    all.weights.insert(all.weights.end(), {norm->weight, norm->bias});
  for (const Projection* projection : {&qkv_, &mix_, &widen_, &narrow_}) {
    all.weights.insert(all.weights.end(), {projection->weight, projection->bias});
    const bool attends = projection == &qkv_ || projection == &mix_;
    all.layers.push_back({layer_names[projection->layer],
                          attends ? Scope::attention : Scope::ffn,
                          {projection->weight, projection->bias}});
    if (const auto& adapter = projection->adapter)
      all.adapters.insert(all.adapters.end(), {adapter->down, adapter->up});
  }
  return all;
}

at::Tensor TransformerBlock::attend(const at::Tensor& x) const {
  const std::int64_t batch = x.size(0), context = x.size(1), width = x.size(2);
  const auto qkv = qkv_(attention_norm_(x))
                       .view({batch, context, 3, heads_, width / heads_})
                       .permute({2, 0, 3, 1, 4})
                       .unbind();
  const at::Tensor heads = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {}, 0.0, true);
  const at::Tensor mixed = mix_(heads.transpose(1, 2).reshape({batch, context, width}));
  return x + at::dropout(mixed, dropout_, true);
}

at::Tensor TransformerBlock::feed_forward(const at::Tensor& x) const {
  const at::Tensor narrowed = narrow_(at::gelu(widen_(ffn_norm_(x))));
  return x + at::dropout(narrowed, dropout_, true);
}

}  // namespace stowage
