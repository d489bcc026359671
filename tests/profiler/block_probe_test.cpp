#include "profiler/block_probe.h"

#include <ATen/ATen.h>

#include <variant>

#include "plan/plan.h"
#include "plan/program.h"
#include "profiler/host_machine.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/profiler/token_batch.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr Bytes ample{1 << 28};

// Two blocks of width 8, two heads, 3 sequences of 4 bytes: 12 tokens, so an activation has 12 x 8 x 4 = 384
// B.
TransformerConfig tiny() {
  return {2, 8, 2, 4, 3, 4, 0.1, {}};
}

// Wide enough in tokens that activations outweigh gradients, as in models that people train.
TransformerConfig small() {
  return {4, 16, 2, 32, 8, 4, 0.1, {}};
}

TransformerConfig adapted(TransformerConfig config) {
  config.lora = LoraConfig{2, 4};
  return config;
}

Assembled probe(const TransformerConfig& config, HostDevice& device) {
  Transformer model(config, 1);
  const State tokens = tokens_of(config);
  ProbeOptions options;
  options.warm_up = 1;
  options.repeats = 2;
  return probe_blocks({name_of(config), model, tokens}, device, options);
}

}  // namespace

TEST_CASE("a probed block has the sizes that can be counted by hand") {
  HostDevice device(host_machine(ample));
  const Assembled probed = probe(tiny(), device);
  const Profile& profile = probed.profile;
  REQUIRE(probed.warnings.empty());
  REQUIRE(profile.blocks.size() == 2);
  REQUIRE(profile.fixed.output.value == 384);
  for (const BlockProfile& block : profile.blocks) {
    REQUIRE(block.count == 1);
    REQUIRE(block.sizes.input.value == 384);
    // 872 parameters, as a test of the transformer counts them, of 4 B; in the block's storage each of the 12
    // tensors is rounded up to 64 B: norms 4 x 64, qkv 768 + 128, mix 256 + 64, widen 1024 + 128,
    // narrow 1024 + 64
    REQUIRE(block.sizes.gradient.value == 3488);
    REQUIRE(block.sizes.weight.value == 3712);
    // Activations: normed, qkv (3), attended, its dropout; the stream between, normed, widened (4), GELU (4),
    // its dropout: 17 x 384 = 6528. Two norms' means and deviations, 4 x 12 x 4 = 192, and the attention's
    // log-sums, 3 x 2 x 4 x 4 = 96.
    REQUIRE(saved_bytes(block).value == 6816);
  }
  // Two moments of each of 2 x 872 + 4144 parameters take 47104 B; a count of steps for each tensor adds a
  // little.
  REQUIRE(profile.fixed.optimizer_state.value >= 47104);
  REQUIRE(profile.fixed.optimizer_state.value <= 47104 + 29 * 64);
}

TEST_CASE("saved tensors are told with their scopes and shared storages") {
  HostDevice device(host_machine(ample));
  const BlockProfile block = probe(tiny(), device).profile.blocks[1];
  std::int64_t queries = 0, attention = 0, ffn = 0;
  for (const SavedTensor& saved : block.saved) {
    if (saved.bytes.value == 3 * 384) {  // of queries, keys and values, three views of one storage
      ++queries;
      REQUIRE(saved.storage);
      REQUIRE(saved.layout->shape == std::vector<std::int64_t>{3, 2, 4, 4});  // batch, heads, context, 8 / 2
      REQUIRE(saved.layout->dtype == "float32");
    }
    (saved.scope == Scope::attention ? attention : ffn) += 1;
  }
  REQUIRE(queries == 3);
  REQUIRE(attention > 0);
  REQUIRE(ffn > 0);
}

TEST_CASE("adapters have gradients, frozen weights have none") {
  HostDevice device(host_machine(ample));
  const Profile profile = probe(adapted(tiny()), device).profile;
  REQUIRE(profile.blocks[0].sizes.gradient.value == 1024);  // 256 adapter weights of 4 B
  REQUIRE(profile.blocks[0].sizes.weight.value == 3712);
}

// qkv 768 + 128, mix 256 + 64, widen 1024 + 128, narrow 1024 + 64; the norms are no layer's.
TEST_CASE("layers are told with their weights and their shares of the times") {
  HostDevice device(host_machine(ample));
  for (const BlockProfile& block : probe(adapted(tiny()), device).profile.blocks) {
    std::vector<std::int64_t> weights;
    Nanos forward, backward;
    for (const Layer& layer : block.layers) {
      weights.push_back(layer.weight.value);
      REQUIRE(layer.forward > Nanos{});
      forward += layer.forward;
      backward += layer.backward;
    }
    REQUIRE(weights == std::vector<std::int64_t>{896, 320, 1152, 1088});
    REQUIRE(forward <= block.times.forward);
    REQUIRE(backward <= block.times.backward);
    REQUIRE(backward.value >= block.times.backward.value / 2);
    REQUIRE(block.layers.back().name == "narrow");
    REQUIRE(block.layers.back().scope == Scope::ffn);
  }
}

TEST_CASE("a probed profile survives its file") {
  HostDevice device(host_machine(ample));
  const Profile profile = probe(tiny(), device).profile;
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("the parameters stay as they are") {
  HostDevice device(host_machine(ample));
  Transformer model(tiny(), 1), same(tiny(), 1);
  const State tokens = tokens_of(tiny());
  probe_blocks({"tiny", model, tokens}, device, {1, 1, [](std::int64_t, std::int64_t) {}});
  const auto weights = model.blocks()[0]->parameters().weights,
             before = same.blocks()[0]->parameters().weights;
  for (std::size_t i = 0; i < weights.size(); ++i) REQUIRE(at::equal(weights[i], before[i]));
}

namespace {

// Plans whose peak does not depend on how far copies have come at any time.
std::vector<Settings> punctual_plans(bool frozen) {
  std::vector<Settings> plans(4);
  plans[1].policy = plans[2].policy = plans[3].policy = Policy::recompute;
  plans[2].interval = 3;
  plans[3].stride = 2;
  if (!frozen) return plans;
  for (int i = 0; i < 2; ++i) {  // weights that are dropped after use, not stored
    plans.push_back(plans[i]);
    plans.back().swap = {2, SwapWhich::last, SwapMode::h2d};
    plans.push_back(plans[i]);
    plans.back().swap = {4, SwapWhich::last, SwapMode::stream, 3};
  }
  return plans;
}

}  // namespace

TEST_CASE("the peak that a profile predicts is the peak that a plan has") {
  for (const TransformerConfig& config : {small(), adapted(small())}) {
    const Machine machine = host_machine(ample);
    HostDevice device(machine);
    Transformer model(config, 1);
    const State tokens = tokens_of(config);
    const Assembled probed = probe_blocks({"small", model, tokens}, device, {});
    REQUIRE(probed.warnings.empty());
    const BlockTable table(probed.profile);
    Executor executor(model, device);
    AdamW optimizer(executor.trained(), {});
    for (const Settings& settings : punctual_plans(config.lora.has_value())) {
      const Program program = compile(table, expand(table, settings).plan);
      const std::int64_t predicted = Engine(machine).simulate(program).run.peaks.device.value;
      const StepResult result = executor.run(program, tokens, optimizer);
      std::int64_t peak = 0;
      for (const StepMemory& memory : std::get<StepReport>(result).memory)
        peak = std::max(peak, memory.peak.value);
      INFO(describe(settings) << ": predicted " << predicted << ", measured " << peak);
      REQUIRE(predicted == peak);
    }
  }
}
