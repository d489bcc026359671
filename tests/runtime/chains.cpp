#include "tests/runtime/chains.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/layer.h"
#include "runtime/scope.h"

namespace stowage {
namespace {

constexpr std::int64_t width = 16, hidden = 32, batch_size = 2, image_tokens = 8, text_tokens = 4, rank = 2;
constexpr double drop = 0.5;

// Draws parameters, and knows which kind the variant wants.
class Maker {
 public:
  explicit Maker(const ChainVariant& variant)
      : variant_(variant), random_(at::detail::createCPUGenerator(3)) {}

  at::Tensor base(std::int64_t rows, std::int64_t columns) const {
    return drawn(rows, columns).set_requires_grad(!variant_.lora);
  }
  at::Tensor norm() const { return at::ones({width}, type()).set_requires_grad(!variant_.lora); }
  std::optional<at::Tensor> adapter(std::int64_t rows, std::int64_t columns) const {
    if (!variant_.lora) return {};
    return drawn(rows, columns).set_requires_grad(true);
  }
  double dropout() const { return variant_.dropout ? drop : 0; }

 private:
  at::ScalarType type() const { return variant_.precision == Precision::bf16 ? at::kBFloat16 : at::kFloat; }
  at::Tensor drawn(std::int64_t rows, std::int64_t columns) const {
    return at::empty({rows, columns})
        .normal_(0, 1 / std::sqrt(static_cast<double>(columns)), random_)
        .to(type());
  }

  ChainVariant variant_;
  at::Generator random_;
};

// A layer of its block. Copies share their tensors, so that the body of a scope may own one.
struct Linear {
  at::Tensor weight;
  std::optional<at::Tensor> down, up;
  std::uint32_t layer = 0;  // among its block's

  Linear(const Maker& maker, std::int64_t out, std::int64_t in)
      : weight(maker.base(out, in)), down(maker.adapter(rank, in)), up(maker.adapter(out, rank)) {}
  at::Tensor operator()(const at::Tensor& x) const {
    begin_layer(layer);
    const at::Tensor y = at::linear(x, weight);
    return down ? y + at::linear(at::linear(x, *down), *up) : y;
  }
};

// x + drop(narrow(gelu(widen(norm(x)))))
struct FeedForward {
  at::Tensor norm;
  Linear widen, narrow;
  double dropout;

  explicit FeedForward(const Maker& maker)
      : norm(maker.norm()),
        widen(maker, hidden, width),
        narrow(maker, width, hidden),
        dropout(maker.dropout()) {}
  at::Tensor operator()(const at::Tensor& x) const {
    return in_scope(Scope::ffn, {x},
                    [*this](const State& in) -> State {
                      const at::Tensor y = narrow(at::gelu(widen(at::layer_norm(in[0], {width}, norm))));
                      return {in[0] + at::dropout(y, dropout, true)};
                    })
        .front();
  }
  void list(BlockParameters& all) const { add(all, norm, {&widen, &narrow}); }
  void list_layers(std::vector<std::pair<Linear*, Scope>>& all) {
    all.insert(all.end(), {{&widen, Scope::ffn}, {&narrow, Scope::ffn}});
  }

  static void add(BlockParameters& all, const at::Tensor& norm, const std::vector<const Linear*>& linears) {
    all.weights.push_back(norm);
    for (const Linear* linear : linears) {
      all.weights.push_back(linear->weight);
      if (linear->down) all.adapters.insert(all.adapters.end(), {*linear->down, *linear->up});
    }
  }
};

// Each stream attends to all tokens of all streams.
struct Attention {
  struct Stream {
    at::Tensor norm;
    Linear qkv, mix;

    explicit Stream(const Maker& maker)
        : norm(maker.norm()), qkv(maker, 3 * width, width), mix(maker, width, width) {}
  };
  std::vector<Stream> streams;
  double dropout;

  Attention(const Maker& maker, std::size_t count) : dropout(maker.dropout()) {
    for (std::size_t i = 0; i < count; ++i) streams.emplace_back(maker);
  }
  State operator()(const State& inputs) const {
    return in_scope(Scope::attention, inputs, [*this](const State& in) { return attend(in); });
  }
  State attend(const State& in) const {
    std::vector<at::Tensor> projected;
    for (std::size_t i = 0; i < streams.size(); ++i)
      projected.push_back(streams[i].qkv(at::layer_norm(in[i], {width}, streams[i].norm)));
    const std::vector<at::Tensor> qkv = at::cat(projected, 1).chunk(3, -1);
    const at::Tensor scores =
        at::softmax(at::matmul(qkv[0], qkv[1].transpose(1, 2)) / std::sqrt(double{width}), -1);
    const at::Tensor heads = at::matmul(at::dropout(scores, dropout, true), qkv[2]);
    State out;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      out.push_back(in[i] + streams[i].mix(heads.narrow(1, from, in[i].size(1))));
      from += in[i].size(1);
    }
    return out;
  }
  void list(BlockParameters& all) const {
    for (const Stream& stream : streams) FeedForward::add(all, stream.norm, {&stream.qkv, &stream.mix});
  }
  void list_layers(std::vector<std::pair<Linear*, Scope>>& all) {
    for (Stream& stream : streams) all.emplace_back(&stream.qkv, Scope::attention);
    for (Stream& stream : streams) all.emplace_back(&stream.mix, Scope::attention);
  }
};

class StreamBlock final : public ChainBlock {
 public:
  // Its layers are numbered from `first_layer`.
  StreamBlock(const Maker& maker, std::size_t streams, std::uint32_t first_layer = 0)
      : attention_(maker, streams) {
    for (std::size_t i = 0; i < streams; ++i) feed_forward_.emplace_back(maker);
    attention_.list_layers(layers_);
    for (FeedForward& feed_forward : feed_forward_) feed_forward.list_layers(layers_);
    for (const auto& [linear, scope] : layers_) linear->layer = first_layer++;
  }
  State forward(const State& input) override {
    State state = attention_(input);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = feed_forward_[i](state[i]);
    return state;
  }
  BlockParameters parameters() const override {
    BlockParameters all;
    attention_.list(all);
    for (const FeedForward& feed_forward : feed_forward_) feed_forward.list(all);
    for (const auto& [linear, scope] : layers_)
      all.layers.push_back({"linear." + std::to_string(linear->layer), scope, {linear->weight}});
    return all;
  }

 private:
  Attention attention_;
  std::vector<FeedForward> feed_forward_;
  std::vector<std::pair<Linear*, Scope>> layers_;  // in the order of the forward
};

// The state behind the first tensor is a stack.
class DownBlock final : public ChainBlock {
 public:
  explicit DownBlock(const Maker& maker) : body_(maker, 1) {}
  State forward(const State& input) override {
    State state = input;
    const at::Tensor x = body_.forward({input[0]})[0];
    state[0] = x.view({x.size(0), x.size(1) / 2, 2, width}).mean(2);
    state.push_back(x);
    return state;
  }
  BlockParameters parameters() const override { return body_.parameters(); }

 private:
  StreamBlock body_;
};

class UpBlock final : public ChainBlock {
 public:
  explicit UpBlock(const Maker& maker) : merge_(maker, width, 2 * width), body_(maker, 1, 1) {}
  State forward(const State& input) override {
    State state = input;
    const at::Tensor wide = input[0].repeat_interleave(2, 1);
    state.pop_back();
    state[0] = body_.forward({merge_(at::cat({wide, input.back()}, -1))})[0];
    return state;
  }
  BlockParameters parameters() const override {
    BlockParameters all = body_.parameters();
    all.weights.push_back(merge_.weight);
    all.layers.insert(all.layers.begin(), {"merge", Scope::other, {merge_.weight}});
    if (merge_.down) all.adapters.insert(all.adapters.end(), {*merge_.down, *merge_.up});
    return all;
  }

 private:
  Linear merge_;
  StreamBlock body_;
};

class SmallChain final : public Chain {
 public:
  SmallChain(const ChainVariant& variant, const Maker& maker)
      : streams_(variant.shape == StateShape::joint ? 2 : 1),
        enter_(maker.base(width, width)),
        leave_(maker.base(width, width)) {
    for (std::uint32_t i = 0; i < chain_blocks; ++i) blocks_.push_back(make_block(variant.shape, i, maker));
  }
  std::vector<ChainBlock*> blocks() override {
    std::vector<ChainBlock*> all;
    for (const auto& block : blocks_) all.push_back(block.get());
    return all;
  }
  State prologue(const State& batch) override {
    State state;
    for (std::size_t i = 0; i < streams_; ++i)
      state.push_back(at::linear(batch[i].to(enter_.scalar_type()), enter_));
    return state;
  }
  // Mean square of what is left, over all streams.
  at::Tensor epilogue(const State& output, const State&) override {
    at::Tensor loss;
    for (const at::Tensor& stream : output) {
      const at::Tensor square = at::linear(stream, leave_).to(at::kFloat).square().mean();
      loss = loss.defined() ? loss + square : square;
    }
    return loss;
  }
  std::vector<at::Tensor> outer_parameters() const override { return {enter_, leave_}; }

 private:
  static std::unique_ptr<ChainBlock> make_block(StateShape shape, std::uint32_t i, const Maker& maker) {
    if (shape != StateShape::skips)
      return std::make_unique<StreamBlock>(maker, shape == StateShape::joint ? 2 : 1);
    if (i < chain_blocks / 2) return std::make_unique<DownBlock>(maker);
    return std::make_unique<UpBlock>(maker);
  }

  std::size_t streams_;
  at::Tensor enter_, leave_;
  std::vector<std::unique_ptr<ChainBlock>> blocks_;
};

}  // namespace

std::vector<ChainVariant> every_chain() {
  std::vector<ChainVariant> all;
  for (StateShape shape : {StateShape::one, StateShape::joint, StateShape::skips})
    for (Precision precision : {Precision::fp32, Precision::bf16, Precision::autocast})
      for (bool dropout : {false, true})
        for (bool lora : {false, true}) all.push_back({shape, precision, dropout, lora});
  return all;
}

std::string name_of(const ChainVariant& variant) {
  static constexpr const char* shapes[] = {"one", "joint", "skips"};
  static constexpr const char* precisions[] = {" fp32", " bf16", " autocast"};
  return std::string(shapes[static_cast<int>(variant.shape)]) +
         precisions[static_cast<int>(variant.precision)] + (variant.dropout ? " dropout" : "") +
         (variant.lora ? " lora" : "");
}

MakeChain make_chain(const ChainVariant& variant) {
  return [variant] { return std::make_unique<SmallChain>(variant, Maker(variant)); };
}

State chain_batch(int step) {
  const auto stream = [&](std::int64_t tokens) {
    return at::arange(batch_size * tokens * width)
        .view({batch_size, tokens, width})
        .to(at::kFloat)
        .mul(0.37 * (step + 1))
        .sin();
  };
  return {stream(image_tokens), stream(text_tokens)};
}

PrecisionGuard::PrecisionGuard(const ChainVariant& variant)
    : active_(variant.precision == Precision::autocast) {
  if (!active_) return;
  at::autocast::increment_nesting();
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
}

PrecisionGuard::~PrecisionGuard() {
  if (!active_) return;
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
}

}  // namespace stowage
