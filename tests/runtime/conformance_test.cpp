// Every mechanism on every chain: the same bits as an ordinary LibTorch step, and the peak that was
// predicted.
//
// A mechanism is a row of settings; another one is another row.
#include <ATen/ATen.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/arena.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/runtime/chains.h"
#include "tests/runtime/prompt_device.h"

using namespace stowage;

namespace {

Settings of_scope(Policy policy, Scope scope) {
  Settings settings = settings_with(policy);
  settings.scope = scope;
  return settings;
}

Settings swapping(Settings settings, SwapSettings swap, std::int64_t prefetch) {
  settings.swap = swap;
  settings.transfer.prefetch = prefetch;
  return settings;
}

std::vector<Settings> mechanisms(bool frozen) {
  const Policy offload = Policy::offload, recompute = Policy::recompute, both = Policy::recompute_offload;
  std::vector<Settings> rows{
      settings_with(Policy::keep),
      settings_with(recompute),
      settings_with(recompute, 2),
      settings_with(recompute, 4),
      settings_with(recompute, 1, 2),
      settings_with(recompute, 2, 3),
      settings_with(recompute, 2, {}, Segmenting::every_nth),
      settings_with(offload),
      settings_with(offload, 1, 2),
      of_scope(offload, Scope::attention),
      of_scope(offload, Scope::ffn),
      settings_with(both),
      settings_with(both, 2),
      settings_with(both, 1, 2),
      of_scope(recompute, Scope::attention),
      of_scope(recompute, Scope::ffn),
      of_scope(both, Scope::attention),
      of_scope(both, Scope::ffn),
      swapping(of_scope(recompute, Scope::ffn), {2, SwapWhich::last, SwapMode::two_way}, 1),
      swapping(settings_with(Policy::keep), {2, SwapWhich::first, SwapMode::two_way}, 0),
      swapping(settings_with(Policy::keep), {3, SwapWhich::last, SwapMode::two_way}, 1),
      swapping(settings_with(offload), {2, SwapWhich::spread, SwapMode::two_way}, 2),
      swapping(settings_with(both, 2), {3, SwapWhich::last, SwapMode::two_way}, 0),
  };
  if (!frozen) return rows;
  rows.push_back(swapping(settings_with(Policy::keep), {3, SwapWhich::first, SwapMode::h2d}, 1));
  rows.push_back(swapping(settings_with(recompute), {2, SwapWhich::spread, SwapMode::h2d}, 0));
  rows.push_back(swapping(settings_with(both), {3, SwapWhich::last, SwapMode::h2d}, 2));
  rows.push_back(swapping(settings_with(Policy::keep), {4, SwapWhich::last, SwapMode::stream}, 1));
  rows.push_back(swapping(settings_with(recompute), {3, SwapWhich::spread, SwapMode::stream, 4}, 0));
  rows.push_back(swapping(of_scope(both, Scope::ffn), {4, SwapWhich::last, SwapMode::stream, 2}, 1));
  rows.push_back(swapping(settings_with(offload), {2, SwapWhich::first, SwapMode::stream, 3}, 2));
  return rows;
}

// Without the optimizer step, where this test keeps copies of gradients.
Bytes peak_of(const StepReport& report) {
  Bytes peak;
  for (const StepMemory& memory : report.memory)
    if (memory.step != report.memory.back().step) peak = std::max(peak, memory.peak);
  return peak;
}

class Conformance {
 public:
  explicit Conformance(const ChainVariant& variant)
      : variant_(variant),
        precision_(variant),
        one_step_(train_plainly(make_chain(variant), chain_batch, 1)),
        two_steps_(train_plainly(make_chain(variant), chain_batch, 2)) {
    before_profile_ = Arena::instance().live();
    const auto chain = make_chain(variant)();
    Executor executor(*chain, device_);
    profile_ = size_up(executor, *chain, chain_batch(0));
  }

  void try_out(const Settings& settings) {
    INFO(name_of(variant_) << ": " << describe(settings));
    const Program program = program_of(profile_, settings);
    const Bytes others = Arena::instance().live() - before_profile_;
    std::vector<Bytes> peaks;
    const bool returns = settings.swap.blocks > 0;  // to the host, where the second step finds it
    const Training planned = train(make_chain(variant_), chain_batch, returns ? 2 : 1, device_, {program},
                                   [&](const StepReport& report) { peaks.push_back(peak_of(report)); });
    REQUIRE(difference(returns ? two_steps_ : one_step_, planned) == "");
    compare_peaks(Engine(prompt_machine()).simulate(program).run.peaks.device, peaks.front() - others,
                  least_of(settings));
  }

 private:
  // A layer has one workspace for all passes, the most that it needs in any.
  static double least_of(const Settings& settings) {
    const bool recomputes =
        settings.policy == Policy::recompute || settings.policy == Policy::recompute_offload;
    return recomputes && settings.swap.mode == SwapMode::stream ? 0.98 : 0.99;
  }
  static void compare_peaks(Bytes predicted, Bytes measured, double least) {
    INFO("predicted " << predicted.value << ", measured " << measured.value);
    REQUIRE(measured.value <= predicted.value * 1.01);
    REQUIRE(measured.value >= predicted.value * least);
  }

  const ChainVariant variant_;
  const PrecisionGuard precision_;
  PromptDevice device_;
  const Training one_step_, two_steps_;
  Bytes before_profile_;
  Profile profile_;
};

void conform(StateShape shape) {
  for (const ChainVariant& variant : every_chain()) {
    if (variant.shape != shape) continue;
    Conformance conformance(variant);
    for (const Settings& settings : mechanisms(variant.lora)) conformance.try_out(settings);
  }
}

}  // namespace

TEST_CASE("every mechanism on a chain of one tensor") {
  conform(StateShape::one);
}

TEST_CASE("every mechanism on a chain of two streams") {
  conform(StateShape::joint);
}

TEST_CASE("every mechanism on a chain with skip connections") {
  conform(StateShape::skips);
}
