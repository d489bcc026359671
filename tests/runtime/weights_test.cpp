// Weights under every plan: trained over several micro-batches, tied, quantised, swapped without what a swap
// needs, streamed layer by layer in whatever order.
#include <ATen/ATen.h>

#include <algorithm>

#include "runtime/host_device.h"
#include "runtime/learned_order.h"
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/runtime/faulty_device.h"
#include "tests/runtime/layered_chain.h"
#include "traces/error.h"

using namespace stowage;

namespace weights_test {

std::string variant_name(const LayeredVariant& variant) {
  return std::string(variant.lora ? "lora " : "") + (variant.quantised ? "quantised " : "") +
         (variant.skips ? "skips " : "") + "tie " + std::to_string(static_cast<int>(variant.tie));
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

// Of all blocks, or of the last ones.
Settings streamed(Settings settings, std::int64_t prefetch, std::int64_t keep = 0,
                  std::int64_t blocks = layered_blocks) {
  settings.swap = {blocks, SwapWhich::last, SwapMode::stream, keep};
  settings.transfer.prefetch = prefetch;
  return settings;
}

// Of a step with nothing of the test's own beside it.
Bytes measured_peak(LayeredVariant variant, Device& device, const Program& program) {
  variant.skips = {};  // the prediction knows of none
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

// The workspace of a block that streams counts with each of its layers, but is needed in one, which here may
// not be the one whose weights, a 25th of all, lie beside it.
double least_share(const Settings& settings) {
  return settings.swap.mode == SwapMode::stream && settings.policy == Policy::recompute ? 0.96 : 1;
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
      const Bytes measured = measured_peak(variant, device, program);
      REQUIRE(measured <= predicted);
      REQUIRE(measured.value >= predicted.value * least_share(settings));
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
TEST_CASE("P06 and P44: a swap without loads for the backward pass is caught") {
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

// Twelve layers in four blocks, of which none, two or all stay from the forward to the backward.
TEST_CASE("layers stream as in a plain loop, under the peak that was predicted") {
  std::vector<Settings> all;
  for (std::int64_t prefetch : {0, 1, 2}) all.push_back(streamed(plan(Policy::keep), prefetch));
  for (std::int64_t keep : {2, 12}) all.push_back(streamed(plan(Policy::keep), 1, keep));
  for (Policy policy : {Policy::recompute, Policy::offload, Policy::recompute_offload})
    all.push_back(streamed(plan(policy), 1, 2, 3));
  all.push_back(streamed(plan(Policy::recompute, 2), 1, 3));
  LayeredVariant variant;
  variant.lora = true;
  compare_with_plain(variant, all);
}

TEST_CASE("quantised and tied layers stream as in a plain loop") {
  const std::vector<Settings> all{streamed(plan(Policy::keep), 1), streamed(plan(Policy::recompute, 2), 1, 2),
                                  streamed(plan(Policy::offload), 2)};
  LayeredVariant quantised;
  quantised.lora = quantised.quantised = true;
  compare_with_plain(quantised, all);
  for (Tie tie : {Tie::blocks, Tie::outer}) {
    LayeredVariant tied;
    tied.lora = true;
    tied.tie = tie;
    compare_with_plain(tied, all);
  }
}

// Two blocks in turns do nothing: their weights come in vain.
TEST_CASE("blocks that are skipped change no bit, whatever happens to their weights") {
  LayeredVariant variant;
  variant.lora = true;
  variant.skips = [](int pass, std::uint32_t block) {
    return block == 1 + static_cast<std::uint32_t>(pass) % 2;
  };
  compare_with_plain(variant, {plan(Policy::recompute), swapped(plan(Policy::keep), SwapMode::h2d),
                               streamed(plan(Policy::keep), 1), streamed(plan(Policy::recompute, 2), 1, 2)});
}

// Each block runs a, c, b, and its backward b, c, a. The program passes over what is not due yet, so one load
// in each of the eight passes is in vain and another has to be waited for. But the last block's `c` is still
// there from the forward, and the backward of the first needs no `a`: 8 - 1 + 1 in vain.
TEST_CASE("layers that run in another order are fetched ahead once it is known") {
  LayeredVariant variant;
  variant.lora = true;
  HostDevice device(test_machine());
  const Program program = program_of(layered_profile(variant, device), streamed(plan(Policy::keep), 1));
  variant.order = {0, 2, 1};
  const auto count = [](const StepReport& report, const char* name) {
    const auto& counters = report.timeline.counters;
    return counters.contains(name) ? counters.at(name) : 0;
  };
  std::vector<std::int64_t> blocking, ahead, used;
  const auto see = [&](const StepReport& report) {
    REQUIRE(count(report, "layer_loads_unused") == 8);
    blocking.push_back(count(report, "layer_loads_blocking"));
    ahead.push_back(count(report, "layer_loads_ahead"));
    used.push_back(count(report, "layer_loads_ahead_used"));
  };
  const Training plain = train_plainly(layered_chain(variant), layered_batch, 4);
  REQUIRE(difference(plain, train(layered_chain(variant), layered_batch, 4, device, {program}, see)) == "");
  REQUIRE(blocking == std::vector<std::int64_t>{8, 8, 0, 0});
  REQUIRE(ahead == std::vector<std::int64_t>{0, 0, 8, 8});
  REQUIRE(used == ahead);
}

// Loads end at any time they may, or ten times later.
TEST_CASE("layers that run in another order compute the same bits, however late their loads come") {
  LayeredVariant declared, variant;
  declared.lora = variant.lora = true;
  variant.order = {0, 2, 1};
  const Settings settings = streamed(plan(Policy::recompute), 1, 2);
  const Training plain = train_plainly(layered_chain(variant), layered_batch, 4);
  Machine slow = test_machine();
  slow.links.h2d.rate.bytes_per_second /= 10;
  slow.links.h2d.latency = slow.links.h2d.latency * 10;
  const auto compare = [&](const Machine& machine, std::optional<std::uint64_t> seed) {
    FaultyDevice device(machine, seed);
    const auto chain = layered_chain(declared)();
    std::optional<Executor> executor(std::in_place, *chain, device);
    const Program program =
        program_of(size_up(*executor, *chain, layered_batch(0), device.memory()), settings);
    executor.reset();
    REQUIRE(difference(plain, train(layered_chain(variant), layered_batch, 4, device, {program})) == "");
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) compare(test_machine(), seed);
  compare(slow, {});
}

TEST_CASE("what follows is believed after two times, while it does in four of five") {
  const LayerId a{0, 0}, b{0, 1}, c{0, 2};
  LearnedOrder order;
  order.follows(a, b);
  REQUIRE(!order.after(a));
  order.follows(a, b);
  REQUIRE(order.after(a) == b);
  REQUIRE(!order.after(b));
  order.follows(a, c);  // two of three
  REQUIRE(!order.after(a));
  for (int i = 0; i < 2; ++i) order.follows(a, b);  // four of five
  REQUIRE(order.after(a) == b);
  // Of 16 times 15 were b; half of each is 7 and 0. After two times c it is 7 of 9, less than four of five.
  for (int i = 0; i < 11; ++i) order.follows(a, b);
  order.follows(a, c);
  REQUIRE(order.after(a) == b);
  order.follows(a, c);
  REQUIRE(!order.after(a));
}

// All twelve layers are kept, with room for ten, of 1024 + 64 B each: what is wanted last in the backward
// goes, and comes again; but for the first of all, whose input takes no gradient.
TEST_CASE("kept layers give way where memory is short") {
  LayeredVariant variant;
  variant.lora = true;
  HostDevice device(test_machine());
  const Program program = program_of(layered_profile(variant, device), streamed(plan(Policy::keep), 1, 12));
  const auto run = [&](std::optional<Bytes> spare) {
    const auto chain = layered_chain(variant)();
    Executor executor(*chain, device);
    AdamW optimizer(executor.trained(), {});
    const State batch = layered_batch(0);
    at::manual_seed(7);
    const Bytes before = Arena::instance().live();
    if (spare) Arena::instance().set_budget(before + *spare);
    const StepReport report = std::get<StepReport>(executor.run(program, batch, optimizer));
    Arena::instance().set_budget({});
    Bytes peak;
    for (const StepMemory& memory : report.memory) peak = std::max(peak, memory.peak - before);
    return std::pair(report, peak);
  };
  const auto [ample, most] = run({});
  const Bytes spare = most - Bytes{2 * 1088};
  const auto [scarce, peak] = run(spare);
  REQUIRE(!ample.timeline.counters.contains("layers_discarded"));
  REQUIRE(scarce.timeline.counters.at("layers_discarded") >= 2);
  REQUIRE(scarce.timeline.counters.at("layer_loads_blocking") ==
          scarce.timeline.counters.at("layers_discarded") - 1);
  REQUIRE(peak <= spare);
  REQUIRE(scarce.loss == ample.loss);
  REQUIRE(scarce.gradient_norm == ample.gradient_norm);
}

TEST_CASE("layers that are trained, or do not say when they run, cannot stream") {
  HostDevice device(test_machine());
  LayeredVariant variant;
  const auto run = [&](Chain& chain) {
    const Program program = program_of(layered_profile(variant, device), streamed(plan(Policy::keep), 1));
    Executor executor(chain, device);
    AdamW optimizer(executor.trained(), {});
    executor.run(program, layered_batch(0), optimizer);
  };
  REQUIRE_THROWS_WITH(run(*layered_chain(variant)()),
                      "program: swap_mode: \"stream\" drops the weights of block 0 after use, but they are "
                      "trained: expected \"two-way\"");
  variant.lora = variant.silent = true;
  REQUIRE_THROWS_WITH(run(*layered_chain(variant)()),
                      "model: block 1: uses weights of layer 0 while that layer does not run: begin_layer() "
                      "was not called");
}
