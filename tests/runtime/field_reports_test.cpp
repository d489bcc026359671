// Faults that others have met in training, injected: each is caught, or cannot happen. Those that are about
// one part of the runtime alone are with its tests, under the same numbers.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/block_weights.h"
#include "runtime/graph_piece.h"
#include "runtime/host_device.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/runtime/chains.h"
#include "tests/runtime/prompt_device.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// x + drop(gelu(x W + embedded rows) up): W is frozen, and the rows are named by a label that starts at an
// offset of its storage. Four numbers of a norm are saved beside it.
class ReportedBlock final : public ChainBlock {
 public:
  enum class Fault { none, no_graph, cut_output, skipped };
  explicit ReportedBlock(Fault fault) : fault_(fault) {}

  State forward(const State& input) override {
    if (fault_ == Fault::skipped) return input;
    const at::AutoGradMode graph(fault_ != Fault::no_graph);
    const at::Tensor label = at::arange(513, at::kLong).remainder(8).narrow(0, 1, 512);
    const at::Tensor rows = at::embedding(table_, label);
    const at::Tensor y = at::gelu(at::linear(input[0], base_) + rows);
    const at::Tensor scale = y.mean().sigmoid();
    at::Tensor z = at::linear(at::dropout(y, 0.5, true), up_) * scale;
    if (fault_ == Fault::cut_output) z = z.detach();
    return {input[0] + z};
  }
  BlockParameters parameters() const override { return {{base_}, {table_, up_}}; }

 private:
  const Fault fault_;
  at::Tensor base_ = at::eye(16), table_ = at::ones({8, 16}).set_requires_grad(true),
             up_ = at::full({16, 16}, 0.1).set_requires_grad(true);
};

// Everything outside the blocks is frozen, so the first block's input wants no gradient.
class ReportedChain final : public Chain {
 public:
  using Fault = ReportedBlock::Fault;
  explicit ReportedChain(Fault second = Fault::none) : first_(Fault::none), second_(second) {}
  std::vector<ChainBlock*> blocks() override { return {&first_, &second_}; }
  State prologue(const State& batch) override { return {batch[0] * 2}; }
  at::Tensor epilogue(const State& output, const State&) override { return output[0].square().mean(); }
  std::vector<at::Tensor> outer_parameters() const override { return {}; }

 private:
  ReportedBlock first_, second_;
};

std::unique_ptr<Chain> reported_chain() {
  return std::make_unique<ReportedChain>();
}

State reported_batch(int step) {
  return {at::arange(512 * 16).view({512, 16}).to(at::kFloat).mul(0.1 * (step + 1)).cos()};
}

Profile reported_profile(Device& device) {
  ReportedChain chain;
  Executor executor(chain, device);
  return size_up(executor, chain, reported_batch(0));
}

std::string complaint_of(ReportedChain::Fault fault, Policy policy) {
  PromptDevice device;
  ReportedChain chain(fault);
  Executor executor(chain, device);
  AdamW optimizer(executor.trained(), {});
  try {
    executor.run(program_of(bare_profile(2), settings_with(policy)), reported_batch(0), optimizer);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<Policy> every_policy() {
  return {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload};
}

}  // namespace

TEST_CASE("P36: an integer at an offset, and what is small, stay on the device, as is predicted") {
  PromptDevice device;
  const Profile profile = reported_profile(device);
  const std::vector<SavedStorage> saved = storages(profile.blocks[1]);
  std::size_t staying = 0;
  for (const SavedStorage& storage : saved) staying += storage.stays;
  // The label of 512 int64, and the sigmoid of 4 B.
  REQUIRE(staying == 2);
  REQUIRE(saved.size() > 2);
  const Program program = program_of(profile, settings_with(Policy::offload));
  std::size_t stores = 0;
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::store_saved) continue;
    ++stores;
    REQUIRE(!saved[*step.storage].stays);
  }
  REQUIRE(stores == 2 * (saved.size() - staying));
  REQUIRE(difference(train_plainly(reported_chain, reported_batch, 1),
                     train(reported_chain, reported_batch, 1, device, {program})) == "");

  const auto chain = reported_chain();
  Executor executor(*chain, device);
  AdamW optimizer(executor.trained(), {});
  const State batch = reported_batch(0);
  const StepResult result = executor.run(program, batch, optimizer);
  Bytes peak;
  for (const StepMemory& memory : std::get<StepReport>(result).memory) peak = std::max(peak, memory.peak);
  REQUIRE(peak.value == Engine(prompt_machine()).simulate(program).run.peaks.device.value);
}

// The stores of a block take at least 20 ms; its backward asks for them at once.
TEST_CASE("P41: a backward that asks for a tensor whose store is under way waits for it") {
  Machine machine = test_machine();
  machine.links.d2h.latency = {20'000'000};
  HostDevice device(machine);
  const Program program = program_of(reported_profile(device), settings_with(Policy::offload));
  const Training plain = train_plainly(reported_chain, reported_batch, 2);
  const auto see = [](const StepReport& report) {
    const std::vector<Span>& spans = report.timeline.spans;
    const auto of = [&](StepKind kind, std::uint32_t block) {
      return std::find_if(spans.begin(), spans.end(),
                          [&](const Span& s) { return s.kind == kind && s.block == block; });
    };
    const auto epilogue = std::find_if(spans.begin(), spans.end(),
                                       [](const Span& span) { return span.kind == StepKind::epilogue; });
    const auto backward = of(StepKind::backward, 1);
    REQUIRE(of(StepKind::store_saved, 1)->end > epilogue->end);  // so it is under way
    for (const Span& span : spans)
      if (span.block == 1u && (span.kind == StepKind::store_saved || span.kind == StepKind::restore_saved))
        REQUIRE(span.end <= backward->begin);
    const std::vector<Stall>& stalls = report.timeline.stalls;
    REQUIRE(std::any_of(stalls.begin(), stalls.end(),
                        [](const Stall& stall) { return stall.cause == StallCause::store; }));
  };
  REQUIRE(difference(plain, train(reported_chain, reported_batch, 2, device, {program}, see)) == "");
}

// Of 3, 10 and 1 B and four floats: each begins at a multiple of 64 B.
TEST_CASE("P43: weights of odd sizes are aligned in their block, on the device and on the host") {
  PromptDevice device;
  std::vector<at::Tensor> tensors;
  for (std::int64_t bytes : {3, 10, 1}) tensors.push_back(at::arange(bytes).to(at::kByte));
  tensors.push_back(at::tensor({1.f, 2.f, 3.f, 4.f}));
  BlockWeights weights(tensors, {}, device);
  REQUIRE(weights.bytes() == Bytes{4 * 64});
  for (bool on_host : {false, true}) {
    if (on_host) weights.move_to(WeightHome::host);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const at::Tensor where = weights.where_it_lives(i);
      REQUIRE(reinterpret_cast<std::uintptr_t>(where.data_ptr()) % 16 == 0);
      REQUIRE(where.numel() == (i < 3 ? std::vector{3, 10, 1}[i] : 4));
      REQUIRE(where.view({-1})[-1].item<float>() == (i < 3 ? std::vector{2.f, 9.f, 0.f}[i] : 4.f));
    }
  }
}

// Half of what the dropout lets through would differ if the recomputation drew another mask.
TEST_CASE("P45: a recomputation draws the dropout of its forward, and leaves the generator as it was") {
  const Training plain = train_plainly(reported_chain, reported_batch, 2);
  PromptDevice device;
  for (Policy policy : every_policy()) {
    INFO(static_cast<int>(policy));
    const Program program = program_of(reported_profile(device), settings_with(policy));
    REQUIRE(difference(plain, train(reported_chain, reported_batch, 2, device, {program})) == "");
  }
  // Another mask does make a difference.
  const MakeChain disturbed = [] {
    at::manual_seed(8);
    return reported_chain();
  };
  const auto with_seed = [&](int step) {
    at::manual_seed(static_cast<std::uint64_t>(100 + step));
    return reported_batch(step);
  };
  REQUIRE(difference(plain, train_plainly(disturbed, with_seed, 2)) != "");
}

TEST_CASE("P46: adapters behind a frozen input are trained under every plan") {
  const Training plain = train_plainly(reported_chain, reported_batch, 1);
  REQUIRE(plain.gradients[0].size() == 4);
  for (const at::Tensor& gradient : plain.gradients[0]) REQUIRE(gradient.abs().sum().item<float>() > 0);
  PromptDevice device;
  for (Policy policy : every_policy()) {
    const Program program = program_of(reported_profile(device), settings_with(policy));
    REQUIRE(difference(plain, train(reported_chain, reported_batch, 1, device, {program})) == "");
  }
}

TEST_CASE("P46: a block whose parameters get no gradient is an error that names it") {
  using Fault = ReportedChain::Fault;
  const std::string said =
      "model: block 1: none of its 2 trained parameters got a gradient: its output is cut from them, or from "
      "the loss";
  for (Policy policy : {Policy::keep, Policy::recompute}) {
    REQUIRE(complaint_of(Fault::none, policy) == "");
    REQUIRE(complaint_of(Fault::no_graph, policy) == said);
    REQUIRE(complaint_of(Fault::cut_output, policy) == said);
    REQUIRE(complaint_of(Fault::skipped, policy) == "");  // what enters a skipped block leaves it
  }
}

TEST_CASE("a second backward through a block's graph is refused") {
  GraphPiece piece;
  const at::Tensor w = at::ones({4}).set_requires_grad(true);
  const State inside = piece.enter({at::full({4}, 3.f)}, {true});
  piece.leave({inside[0] * w});
  REQUIRE(at::equal(piece.backward({at::ones({4})})[0], at::ones({4})));
  REQUIRE(at::equal(w.grad(), at::full({4}, 3.f)));
  REQUIRE_THROWS_WITH(piece.backward({at::ones({4})}),
                      "a block's graph is gone: its backward has been already");
  REQUIRE(at::equal(w.grad(), at::full({4}, 3.f)));
}
