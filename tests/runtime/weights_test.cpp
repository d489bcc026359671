// Weights under every plan: trained over several micro-batches, tied, quantised, swapped without what a swap
// needs.
#include <ATen/ATen.h>

#include <algorithm>

#include "runtime/host_device.h"
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/runtime/layered_chain.h"
#include "traces/error.h"

using namespace stowage;

namespace weights_test {

std::string variant_name(const LayeredVariant& variant) {
  return std::string(variant.lora ? "lora " : "") + "tie " + std::to_string(static_cast<int>(variant.tie));
}

Settings plan(Policy policy, std::int64_t accumulate = 1) {
  Settings settings;
  settings.policy = policy;
  settings.step.accumulate = accumulate;
  return settings;
}

Settings swapped(Settings settings, SwapMode mode, SwapWhich which = SwapWhich::last) {
  settings.swap = {2, which, mode};
  return settings;
}

// Of a step with nothing of the test's own beside it.
Bytes measured_peak(const LayeredVariant& variant, Device& device, const Program& program) {
  const auto chain = layered_chain(variant)();
  Executor executor(*chain, device);
  AdamW optimizer(executor.trained(), {});
  std::vector<State> batches;  // all of them one: what they take is the caller's
  const State batch = layered_batch(0);
  for (const Step& step : program.steps)
    if (step.kind == StepKind::prologue) batches.push_back(batch);
  const StepResult result = executor.run(program, batches, optimizer);
  Bytes peak;
  for (const StepMemory& memory : std::get<StepReport>(result).memory) peak = std::max(peak, memory.peak);
  return peak;
}

// Whether the peak depends on how far copies have come.
bool is_punctual(const Settings& settings) {
  const bool stores = settings.swap.blocks > 0 && settings.swap.mode == SwapMode::two_way;
  return !stores && (settings.policy == Policy::keep || settings.policy == Policy::recompute);
}

// Two steps under each of the settings: all bits as without a plan, and, where copies do not decide on it,
// the peak that was predicted.
void compare_with_plain(const LayeredVariant& variant, const std::vector<Settings>& all) {
  const Machine machine = test_machine();
  HostDevice device(machine);
  const Profile profile = layered_profile(variant, device);
  for (const Settings& settings : all) {
    INFO(describe(settings));
    const Program program = program_of(profile, settings);
    if (is_punctual(settings)) {
      const Bytes predicted = Engine(machine).simulate(program).run.peaks.device;
      REQUIRE(measured_peak(variant, device, program).value == predicted.value);
    }
    const Training plain =
        train_plainly(layered_chain(variant), layered_batch, 2, static_cast<int>(settings.step.accumulate));
    const auto see = [&](const StepReport& report) {
      REQUIRE(verify(report.timeline, program, machine, {}) == std::vector<std::string>{});
    };
    INFO(variant_name(variant));
    REQUIRE(difference(plain, train(layered_chain(variant), layered_batch, 2, device, {program}, see)) == "");
  }
}

// Of each kind of plan one that keeps weights and one that swaps them.
std::vector<Settings> plans(SwapMode mode, std::int64_t accumulate) {
  std::vector<Settings> all;
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload}) {
    all.push_back(plan(policy, accumulate));
    all.push_back(swapped(all.back(), mode, static_cast<SwapWhich>(all.size() % 3)));
  }
  return all;
}

}  // namespace weights_test

using namespace weights_test;

TEST_CASE("gradients of micro-batches add up as in a plain loop") {
  for (std::int64_t accumulate : {2, 3}) {
    compare_with_plain({}, plans(SwapMode::two_way, accumulate));
    LayeredVariant lora;
    lora.lora = true;
    compare_with_plain(lora, plans(SwapMode::h2d, accumulate));
  }
}

TEST_CASE("a step takes as many batches as its program has micro-batches") {
  HostDevice device(test_machine());
  const auto chain = layered_chain({})();
  Executor executor(*chain, device);
  AdamW optimizer(executor.trained(), {});
  const Program program = program_of(bare_profile(layered_blocks), plan(Policy::keep, 2));
  REQUIRE_THROWS_WITH(executor.run(program, layered_batch(0), optimizer),
                      "program: accumulate: 2, but there are 1 batches");
}

TEST_CASE("tied weights stay on the device and train as in a plain loop") {
  for (Tie tie : {Tie::blocks, Tie::outer}) {
    LayeredVariant variant;
    variant.tie = tie;
    compare_with_plain(variant, plans(SwapMode::two_way, 1));
  }
}

// With two micro-batches, what a tied weight's second one makes is added up beside the first.
TEST_CASE("tied weights train over micro-batches as in a plain loop") {
  for (Tie tie : {Tie::blocks, Tie::outer}) {
    LayeredVariant variant;
    variant.tie = tie;
    compare_with_plain(
        variant, {swapped(plan(Policy::offload, 3), SwapMode::two_way), plan(Policy::recompute_offload, 2)});
  }
}

// A block has 3 * (16 * 16 + 16) * 4 = 3264 B; of blocks 0 and 2 one weight, 1024 B, is not their own. It
// counts in what is always there.
TEST_CASE("a tied weight counts once") {
  HostDevice device(test_machine());
  LayeredVariant variant;
  const Profile untied = layered_profile(variant, device);
  variant.tie = Tie::blocks;
  const Profile tied = layered_profile(variant, device);
  for (std::uint32_t i = 0; i < layered_blocks; ++i) {
    const Bytes own{i % 2 == 0 ? 3264 - 1024 : 3264};
    REQUIRE(tied.blocks[i].sizes.weight == own);
    REQUIRE(tied.blocks[i].sizes.gradient == own);
  }
  // The weight and its gradient.
  REQUIRE(tied.fixed.resident - untied.fixed.resident == Bytes{2 * 1024});
}

// Of each layer: 256 B of codes, 16 scales of 4 B, 16 zero points of 1 B, padded to 64 B, two low-rank parts
// of 16 * 2 * 4 = 128 B, a bias of 64 B: 704. A float layer has 1024 + 64.
TEST_CASE("quantised weights are moved as they are, and adapters on them trained") {
  LayeredVariant variant;
  variant.quantised = variant.lora = true;
  {
    HostDevice device(test_machine());
    for (const BlockProfile& block : layered_profile(variant, device).blocks)
      REQUIRE(block.sizes.weight == Bytes{3 * 704});
  }
  compare_with_plain(variant, plans(SwapMode::h2d, 1));
}

// Four blocks, weights for two on the device. A swap that does not fetch weights for the backward pass would
// compute with whatever lies in their place.
TEST_CASE("a swap without loads for the backward pass is caught") {
  LayeredVariant variant;
  variant.lora = true;
  for (Policy policy : {Policy::keep, Policy::recompute}) {
    HostDevice device(test_machine());
    Program program = program_of(layered_profile(variant, device), swapped(plan(policy), SwapMode::h2d));
    for (StepId id = 0; id < program.steps.size(); ++id) {
      const StepKind kind = program.steps[id].kind;
      if (kind == StepKind::backward || kind == StepKind::recompute) program.wait_ranges[id] = {};
    }
    const auto chain = layered_chain(variant)();
    Executor executor(*chain, device);
    AdamW optimizer(executor.trained(), {});
    REQUIRE_THROWS_AS(executor.run(program, layered_batch(0), optimizer), DefectError);
    // Nothing was updated, and a whole program runs.
    executor.bring_weights_home();
    const Program whole = program_of(layered_profile(variant, device), swapped(plan(policy), SwapMode::h2d));
    REQUIRE(std::holds_alternative<StepReport>(executor.run(whole, layered_batch(0), optimizer)));
  }
}
