#include "tests/runtime/layered_chain.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <memory>
#include <optional>
#include <string>

#include "runtime/layer.h"

namespace stowage {
namespace {

constexpr std::int64_t side = 16, rows = 8, low_rank = 2;

class LayerMaker {
 public:
  explicit LayerMaker(const LayeredVariant& variant)
      : variant_(variant), random_(at::detail::createCPUGenerator(5)) {}

  const LayeredVariant& variant() const { return variant_; }
  bool trains_base() const { return !variant_.lora && !variant_.quantised; }
  at::Tensor square() const { return drawn(side, side).set_requires_grad(trains_base()); }
  at::Tensor bias() const { return drawn(1, side).view({side}).set_requires_grad(trains_base()); }
  at::Tensor drawn(std::int64_t height, std::int64_t width) const {
    return at::empty({height, width}).normal_(0, 0.25, random_);
  }

 private:
  LayeredVariant variant_;
  at::Generator random_;
};

// weight = (codes - zero point) * scale + up down
struct Quantised {
  at::Tensor codes, scale, zero_point, up, down;

  explicit Quantised(const LayerMaker& maker)
      : codes(maker.drawn(side, side).mul(300).clamp(-127, 127).to(at::kChar)),
        scale(maker.drawn(side, 1).abs().div(128)),
        zero_point(maker.drawn(side, 1).mul(16).to(at::kChar)),
        up(maker.drawn(side, low_rank)),
        down(maker.drawn(low_rank, side)) {}
  at::Tensor weight() const {
    return (codes.to(at::kFloat) - zero_point.to(at::kFloat)) * scale + at::matmul(up, down);
  }
};

struct SquareLayer {
  at::Tensor weight, bias;
  std::optional<Quantised> quantised;
  std::optional<at::Tensor> down, up;

  explicit SquareLayer(const LayerMaker& maker) : bias(maker.bias()) {
    if (maker.variant().quantised)
      quantised.emplace(maker);
    else
      weight = maker.square();
    if (!maker.variant().lora) return;
    down = maker.drawn(low_rank, side).set_requires_grad(true);
    up = maker.drawn(side, low_rank).set_requires_grad(true);
  }
  at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor y = at::linear(x, quantised ? quantised->weight() : weight, bias);
    return down ? y + at::linear(at::linear(x, *down), *up) : y;
  }
  std::vector<at::Tensor> weights() const {
    if (!quantised) return {weight, bias};
    const Quantised& q = *quantised;
    return {q.codes, q.scale, q.zero_point, q.up, q.down, bias};
  }
};

class LayeredBlock final : public ChainBlock {
 public:
  explicit LayeredBlock(const LayerMaker& maker) : order_(maker.variant().order) {
    for (int i = 0; i < 3; ++i) layers.emplace_back(maker);
  }

  State forward(const State& input) override {
    if (skipped) return input;
    at::Tensor x = input.at(0);
    for (std::uint32_t layer : order_) {
      if (!silent) begin_layer(layer);
      x = at::gelu(layers[layer](x));
    }
    return {input[0] + at::dropout(x, 0.5, true)};
  }
  BlockParameters parameters() const override {
    BlockParameters all;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::vector<at::Tensor> weights = layers[i].weights();
      all.weights.insert(all.weights.end(), weights.begin(), weights.end());
      all.layers.push_back({std::string(1, static_cast<char>('a' + i)), Scope::other, weights});
      if (layers[i].down) all.adapters.insert(all.adapters.end(), {*layers[i].down, *layers[i].up});
    }
    return all;
  }

  std::vector<SquareLayer> layers;
  bool skipped = false, silent = false;

 private:
  std::vector<std::uint32_t> order_;
};

class LayeredChain final : public Chain {
 public:
  explicit LayeredChain(const LayerMaker& maker)
      : skips_(maker.variant().skips), entry_(maker.square()), head_(maker.square()) {
    for (std::uint32_t i = 0; i < layered_blocks; ++i)
      blocks_.push_back(std::make_unique<LayeredBlock>(maker));
    for (std::uint32_t i = 1; i < layered_blocks; ++i) blocks_[i]->silent = maker.variant().silent;
    if (maker.variant().tie == Tie::blocks) blocks_[2]->layers[0].weight = blocks_[0]->layers[0].weight;
    if (maker.variant().tie == Tie::outer) head_ = blocks_[1]->layers[1].weight = entry_;
  }

  std::vector<ChainBlock*> blocks() override {
    std::vector<ChainBlock*> all;
    for (const auto& block : blocks_) all.push_back(block.get());
    return all;
  }
  State prologue(const State& batch) override {
    for (std::uint32_t i = 0; i < layered_blocks; ++i) blocks_[i]->skipped = skips_ && skips_(passes_, i);
    ++passes_;
    return {at::linear(batch.at(0), entry_)};
  }
  at::Tensor epilogue(const State& output, const State&) override {
    return at::linear(output.at(0), head_).square().mean();
  }
  std::vector<at::Tensor> outer_parameters() const override {
    return entry_.is_same(head_) ? std::vector{entry_} : std::vector{entry_, head_};
  }

 private:
  std::function<bool(int, std::uint32_t)> skips_;
  at::Tensor entry_, head_;
  std::vector<std::unique_ptr<LayeredBlock>> blocks_;
  int passes_ = 0;
};

}  // namespace

MakeChain layered_chain(const LayeredVariant& variant) {
  return [variant] { return std::make_unique<LayeredChain>(LayerMaker(variant)); };
}

State layered_batch(int step) {
  return {at::arange(rows * side).view({rows, side}).to(at::kFloat).mul(0.41 * (step + 1)).sin()};
}

Profile layered_profile(const LayeredVariant& variant, Device& device) {
  LayeredVariant whole = variant;
  whole.skips = {};
  whole.silent = false;
  const auto chain = layered_chain(whole)();
  Executor executor(*chain, device);
  return size_up(executor, *chain, layered_batch(0));
}

}  // namespace stowage
