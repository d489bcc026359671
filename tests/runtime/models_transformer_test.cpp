#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <vector>

#include "runtime/models/transformer.h"
#include "runtime/scope.h"
#include "tests/catch.h"

using namespace stowage;

namespace {

// Two blocks of width 8, two heads, sequences of 4 bytes, 3 in a batch, feed-forward of 32.
TransformerConfig tiny() {
  return {2, 8, 2, 4, 3, 4, 0.0, {}};
}

TransformerConfig tiny_lora() {
  TransformerConfig config = tiny();
  config.lora = LoraConfig{2, 4};
  return config;
}

State batch() {
  const at::Tensor tokens = at::arange(12, at::kLong).view({3, 4});
  return {tokens, tokens + 1};
}

std::int64_t elements(const std::vector<at::Tensor>& tensors) {
  std::int64_t sum = 0;
  for (const at::Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

at::Tensor output(Transformer& model, const State& batch) {
  State state = model.prologue(batch);
  for (ChainBlock* block : model.blocks()) state = block->forward(state);
  return state[0];
}

at::Tensor loss(Transformer& model) {
  return model.epilogue({output(model, batch())}, batch());
}

// The scopes that were entered, by number: torch teaches streams to print vectors, of numbers alone.
struct Trace : ScopeListener {
  std::vector<int> scopes;
  void on_change(Scope, Scope to) override { scopes.push_back(static_cast<int>(to)); }
};

}  // namespace

TEST_CASE("a block has the parameters that its configuration says") {
  Transformer model(tiny(), 1);
  REQUIRE(model.blocks().size() == 2);
  const BlockParameters full = model.blocks()[0]->parameters();
  // norms 2 x (8 + 8) = 32; qkv 24 x 8 + 24 = 216; mix 8 x 8 + 8 = 72; widen 32 x 8 + 32 = 288;
  // narrow 8 x 32 + 8 = 264; together 872
  REQUIRE(elements(full.weights) == 872);
  REQUIRE(full.adapters.empty());
  // embedding and head 256 x 8 each, positions 4 x 8, norm 8 + 8: 4144
  REQUIRE(elements(model.outer_parameters()) == 4144);

  Transformer adapted(tiny_lora(), 1);
  const BlockParameters lora = adapted.blocks()[0]->parameters();
  REQUIRE(elements(lora.weights) == 872);
  // rank 2 x (in + out): qkv 2 x 32 = 64; mix 2 x 16 = 32; widen and narrow 2 x 40 = 80 each; together 256
  REQUIRE(elements(lora.adapters) == 256);
}

TEST_CASE("parameters follow from the seed and leave torch's random state alone") {
  at::manual_seed(3);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(3);
  Transformer first(tiny(), 1), same(tiny(), 1), other(tiny(), 2);
  REQUIRE(at::equal(at::rand({4}), expected));
  const auto weight = [](Transformer& model) { return model.blocks()[1]->parameters().weights[4]; };
  REQUIRE(at::equal(weight(first), weight(same)));
  REQUIRE(!at::equal(weight(first), weight(other)));
}

TEST_CASE("an untrained model gives every byte about the same chance") {
  Transformer model(tiny(), 1);
  REQUIRE(loss(model).item<double>() == Approx(5.545).margin(0.1));  // ln 256 = 5.545
}

TEST_CASE("no output depends on a later token") {
  Transformer model(tiny(), 1);
  State changed = batch();
  changed[0] = changed[0].clone();
  changed[0].select(1, 3).add_(100);
  const at::Tensor before = output(model, batch()), after = output(model, changed);
  REQUIRE(at::equal(before.narrow(1, 0, 3), after.narrow(1, 0, 3)));
  REQUIRE(!at::equal(before.select(1, 3), after.select(1, 3)));
}

TEST_CASE("a block is a function of input and random state") {
  TransformerConfig config = tiny();
  config.dropout = 0.5;
  Transformer model(config, 1);
  const State input = model.prologue(batch());
  const at::Generator random = at::detail::getDefaultCPUGenerator();
  const at::Tensor state = random.get_state();
  const at::Tensor first = model.blocks()[0]->forward(input)[0];
  const at::Tensor next = model.blocks()[0]->forward(input)[0];
  at::Generator(random).set_state(state);
  const at::NoGradGuard recomputed;
  REQUIRE(at::equal(first, model.blocks()[0]->forward(input)[0]));
  REQUIRE(!at::equal(first, next));
}

TEST_CASE("adapters start without effect and alone are trained") {
  Transformer model(tiny_lora(), 1);
  const at::Tensor before = output(model, batch());
  for (ChainBlock* block : model.blocks()) {
    const at::NoGradGuard frozen;
    for (at::Tensor& adapter : block->parameters().adapters)
      if (adapter.size(0) == 2) adapter.mul_(3);  // those that narrow to the rank; the others are zero
  }
  REQUIRE(at::equal(before, output(model, batch())));

  torch::autograd::backward({loss(model)}, {});
  for (ChainBlock* block : model.blocks()) {
    for (const at::Tensor& weight : block->parameters().weights) REQUIRE(!weight.grad().defined());
    for (const at::Tensor& adapter : block->parameters().adapters) REQUIRE(adapter.grad().defined());
  }
  for (const at::Tensor& parameter : model.outer_parameters()) REQUIRE(!parameter.grad().defined());
}

TEST_CASE("steps against the gradient lower the loss, by all parameters or by adapters") {
  for (const TransformerConfig& config : {tiny(), tiny_lora()}) {
    Transformer model(config, 1);
    const double before = loss(model).item<double>();
    for (int step = 0; step < 20; ++step) {
      torch::autograd::backward({loss(model)}, {});
      const at::NoGradGuard update;
      for (ChainBlock* block : model.blocks()) {
        BlockParameters parameters = block->parameters();
        for (auto* list : {&parameters.weights, &parameters.adapters}) {
          for (at::Tensor& parameter : *list) {
            if (!parameter.requires_grad()) continue;
            parameter.sub_(parameter.grad(), 0.5);
            parameter.mutable_grad().reset();
          }
        }
      }
    }
    REQUIRE(loss(model).item<double>() < before);
  }
}

TEST_CASE("a block marks its attention and its feed-forward") {
  Transformer model(tiny(), 1);
  const State input = model.prologue(batch());
  Trace trace;
  ScopeListener* before = listen_to_scopes(&trace);
  model.blocks()[0]->forward(input);
  listen_to_scopes(before);
  const int attention = 0, ffn = 1, other = 2;
  REQUIRE(trace.scopes == std::vector<int>{attention, other, ffn, other});
}
