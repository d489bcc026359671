// What goes wrong at one step leaves the next one as if nothing had: training in which every step is first
// broken off somewhere, and then run, computes the same bits as training that nothing disturbs.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "runtime/models/transformer.h"
#include "runtime/wrapped_chain.h"
#include "tests/catch.h"
#include "tests/runtime/faulty_device.h"
#include "tests/runtime/trainer.h"
#include "traces/error.h"

using namespace stowage;

namespace {

constexpr std::uint32_t fault_blocks = 3;

bool streams(const Settings& settings) {
  return settings.swap.mode == SwapMode::stream;
}

// Weights that stream are frozen.
TransformerConfig fault_model(const Settings& settings) {
  TransformerConfig config;
  config.layers = fault_blocks;
  config.width = 16;
  config.heads = 2;
  config.context = 8;
  config.batch = 2;
  config.ffn_multiple = 2;
  if (streams(settings)) config.lora = LoraConfig{2, 4};
  return config;
}

State fault_batch(int step) {
  const at::Tensor text = (at::arange(18, at::kLong) * (step % 7 + 3)).remainder(256);
  return {text.narrow(0, 0, 16).view({2, 8}), text.narrow(0, 1, 16).view({2, 8})};
}

struct Thrown : std::runtime_error {
  Thrown() : runtime_error("the block was told to throw") {}
};

// A transformer each of whose blocks may throw as it is called, or as its backward is.
class ThrowingChain final : public WrappedChain {
 public:
  ThrowingChain(const Settings& settings, FaultCounter& calls)
      : WrappedChain(model_), model_(fault_model(settings), 1) {
    for (ChainBlock* block : model_.blocks()) blocks_.emplace_back(*block, calls);
  }
  std::vector<ChainBlock*> blocks() override {
    std::vector<ChainBlock*> all;
    for (Block& block : blocks_) all.push_back(&block);
    return all;
  }

 private:
  class Block final : public WrappedBlock {
   public:
    Block(ChainBlock& inner, FaultCounter& calls) : WrappedBlock(inner), calls_(calls) {}
    State forward(const State& input) override {
      if (calls_.fails()) throw Thrown();
      State output = inner_.forward(input);
      if (output.front().requires_grad())
        output.front().register_hook([this](const at::Tensor&) {
          if (calls_.fails()) throw Thrown();
        });
      return output;
    }

   private:
    FaultCounter& calls_;
  };

  Transformer model_;
  std::vector<Block> blocks_;
};

// What a step may not leave behind.
struct Footprint {
  Bytes device, host;
  std::int64_t in_use = 0;  // pinned buffers
  std::ptrdiff_t threads;
  at::Tensor random;

  explicit Footprint(FaultyDevice& of)
      : device(of.memory().live()),
        host(of.host_memory().live()),
        threads(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {})) {
    for (const PinnedBucket& bucket : of.host_memory().report().buckets) in_use += bucket.in_use;
    random = at::globalContext().defaultGenerator(at::kCPU).get_state();
  }
};

void require_same(const Footprint& before, const Footprint& after) {
  INFO("device " << after.device.value - before.device.value - before.random.nbytes());
  REQUIRE(after.device - Bytes{static_cast<std::int64_t>(before.random.nbytes())} == before.device);
  REQUIRE(after.host == before.host);
  REQUIRE(after.in_use == before.in_use);
  REQUIRE(after.threads == before.threads);
  REQUIRE(at::equal(after.random, before.random));
}

// One training, step by step.
class FaultScene {
 public:
  FaultScene(const Settings& settings, std::optional<std::uint64_t> seed_of_copies,
             const Machine& machine = test_machine())
      : settings(settings),
        device(machine, seed_of_copies),
        chain(settings, calls),
        executor(chain, device),
        optimizer(executor.trained()),
        program(sized_program(settings)),
        batch(fault_batch(0)) {
    at::manual_seed(7);
  }

  StepResult attempt() { return executor.run(program, batch, optimizer); }
  // A step that nothing may disturb: its loss and gradients.
  void step() {
    device.begin_anew();
    calls.arm({});
    const StepResult result = attempt();
    REQUIRE(std::holds_alternative<StepReport>(result));
    passed(std::get<StepReport>(result));
  }
  void passed(const StepReport& report) {
    losses.push_back(report.loss);
    gradients = optimizer.take_gradients();
    batch = fault_batch(static_cast<int>(losses.size()));
  }

  const Settings settings;
  FaultCounter calls;  // of blocks, forwards and backwards
  FaultyDevice device;
  ThrowingChain chain;
  Executor executor;
  WatchedOptimizer optimizer;
  Program program;
  State batch;  // of the next step
  std::vector<double> losses;
  std::vector<at::Tensor> gradients;  // of the last step

 private:
  // Sizing up trains a little: with the same draws each time.
  Program sized_program(const Settings& settings) {
    at::manual_seed(6);
    return program_of(size_up(executor, chain, fault_batch(0), device.memory()), settings);
  }
};

constexpr int undisturbed_steps = 130;

// The same bits under every plan, so one training of a model is the measure of all. It comes before those
// that are disturbed: a second one at the same time would be counted with the first.
struct Undisturbed {
  std::vector<double> losses;
  std::vector<std::vector<at::Tensor>> gradients;

  explicit Undisturbed(const Settings& settings) {
    FaultScene scene(settings, {});
    for (int i = 0; i < undisturbed_steps; ++i) {
      scene.step();
      gradients.push_back(scene.gradients);
    }
    losses = scene.losses;
  }
};

const Undisturbed& undisturbed(const Settings& settings) {
  static std::array<const Undisturbed*, 2> trainings{};  // LibTorch may be gone when statics are destroyed
  const Undisturbed*& training = trainings[streams(settings)];
  if (!training) training = new Undisturbed(settings);
  return *training;
}

void require_as_undisturbed(const FaultScene& scene) {
  const Undisturbed& reference = undisturbed(scene.settings);
  REQUIRE(scene.losses.back() == reference.losses.at(scene.losses.size() - 1));
  const std::vector<at::Tensor>& expected = reference.gradients.at(scene.losses.size() - 1);
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(at::equal(scene.gradients[i], expected[i]));
}

bool updated_any(const std::vector<at::Tensor>& gradients) {
  return std::any_of(gradients.begin(), gradients.end(), [](const at::Tensor& g) { return g.defined(); });
}

Settings settings_with(Policy policy, bool swaps, bool pinned = true) {
  Settings settings;
  settings.policy = policy;
  if (policy == Policy::recompute_offload) settings.interval = 2;
  if (swaps) settings.swap = {2, SwapWhich::last, SwapMode::two_way};
  if (!pinned) settings.transfer.max_buckets = 0;
  return settings;
}

std::vector<Settings> settings_to_disturb() {
  std::vector<Settings> all;
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload})
    for (bool swaps : {false, true}) all.push_back(settings_with(policy, swaps));
  for (Policy policy : {Policy::keep, Policy::recompute_offload}) {
    all.push_back(settings_with(policy, false));
    all.back().swap = {2, SwapWhich::last, SwapMode::stream, 2};
  }
  return all;
}

// Where in one step to refuse memory: the first, a middle and the last request of each compute step but the
// last, the optimizer's, with what is asked for between it and the next.
std::vector<std::int64_t> requests_to_refuse(FaultScene& scene) {
  scene.step();
  std::vector<std::int64_t> edges = scene.device.requests_by_step();
  std::vector<std::int64_t> chosen{0};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const std::int64_t count = edges[i + 1] - edges[i];
    for (std::int64_t at : {std::int64_t{0}, count / 2, count - 1})
      if (at >= 0 && at < count && edges[i] + at > chosen.back()) chosen.push_back(edges[i] + at);
  }
  return chosen;
}

}  // namespace

TEST_CASE("device memory that is refused at any step leaves nothing behind") {
  for (const Settings& settings : settings_to_disturb()) {
    INFO(describe(settings));
    undisturbed(settings);
    FaultScene scene(settings, 3);
    for (std::int64_t at : requests_to_refuse(scene)) {
      INFO("request " << at);
      if (scene.losses.size() == undisturbed_steps) break;
      const Footprint before(scene.device);
      scene.device.begin_anew();
      scene.device.counter(Fault::device_memory).arm(at);
      const StepResult result = scene.attempt();
      REQUIRE(std::get<Shortage>(result).refusal.space == Space::device);
      scene.optimizer.take_gradients();
      require_same(before, Footprint(scene.device));
      scene.step();
      require_as_undisturbed(scene);
    }
  }
}

TEST_CASE("a block that throws at any of its calls, forward or backward, leaves nothing behind") {
  for (const Settings& settings : settings_to_disturb()) {
    INFO(describe(settings));
    undisturbed(settings);
    FaultScene scene(settings, 4);
    scene.step();
    // Each block once forward and once backward, and once more where it is recomputed.
    const std::int64_t calls = scene.calls.passed();
    REQUIRE(calls >= 2 * fault_blocks);
    REQUIRE(calls <= 3 * fault_blocks);
    for (std::int64_t at = 0; at < calls; ++at) {
      const Footprint before(scene.device);
      scene.device.begin_anew();
      scene.calls.arm(at);
      REQUIRE_THROWS_AS(scene.attempt(), Thrown);
      require_same(before, Footprint(scene.device));
      scene.step();
      require_as_undisturbed(scene);
    }
  }
}

TEST_CASE("a copy that fails, whichever, leaves nothing behind") {
  for (const Settings& settings : settings_to_disturb()) {
    INFO(describe(settings));
    undisturbed(settings);
    std::optional<FaultScene> scene(std::in_place, settings, 5);
    for (int i = 0; i < 2; ++i) scene->step();  // the first also moves weights to where they begin
    const std::int64_t copies = scene->device.counter(Fault::copy).passed();
    for (std::int64_t at = 0; at < copies; ++at) {
      INFO("copy " << at);
      const Footprint before(scene->device);
      scene->device.begin_anew();
      scene->device.counter(Fault::copy).arm(at);
      REQUIRE_THROWS_AS(scene->attempt(), SystemError);
      const bool half_updated = updated_any(scene->optimizer.take_gradients());
      require_same(before, Footprint(scene->device));
      if (half_updated) {  // the optimizer waited for that copy: the one step whose weights are not as before
        scene.reset();
        scene.emplace(settings, 5);
      }
      scene->step();
      require_as_undisturbed(*scene);
    }
  }
}

TEST_CASE("host memory that is refused for any buffer is a shortage of the host, and leaves nothing behind") {
  for (Policy policy : {Policy::offload, Policy::recompute_offload}) {
    const Settings settings = settings_with(policy, true, /*pinned=*/false);
    undisturbed(settings);
    FaultScene scene(settings, 6);
    scene.step();
    const std::int64_t buffers = scene.device.counter(Fault::host_memory).passed();
    REQUIRE(buffers > 0);
    for (std::int64_t at = 0; at < buffers; ++at) {
      const Footprint before(scene.device);
      scene.device.begin_anew();
      scene.device.counter(Fault::host_memory).arm(at);
      const StepResult result = scene.attempt();
      const Refusal& refusal = std::get<Shortage>(result).refusal;
      REQUIRE(refusal.space == Space::host);
      REQUIRE(refusal.text().starts_with("host memory: "));
      require_same(before, Footprint(scene.device));
      scene.step();
      require_as_undisturbed(scene);
    }
  }
}

TEST_CASE("where pinning fails for any buffer its copies are pageable, and nothing else changes") {
  const Settings settings = settings_with(Policy::offload, false);
  undisturbed(settings);
  FaultScene scene(settings, 7);
  scene.step();
  const std::int64_t buffers = scene.device.counter(Fault::pinned_memory).passed();
  REQUIRE(buffers > 0);
  for (std::int64_t at = 0; at < buffers; ++at) {
    const Footprint before(scene.device);
    scene.device.host_memory().start_anew();
    scene.device.begin_anew();
    scene.device.counter(Fault::pinned_memory).arm(at);
    const StepResult result = scene.attempt();
    REQUIRE(std::get<StepReport>(result).timeline.counters.at("pageable_copies") > 0);
    scene.passed(std::get<StepReport>(result));
    require_as_undisturbed(scene);
    scene.gradients.clear();
    REQUIRE(Footprint(scene.device).in_use == before.in_use);
  }
}

TEST_CASE("weights that cannot be pinned stay where they are") {
  const Settings settings = settings_with(Policy::keep, true);
  undisturbed(settings);
  FaultScene scene(settings, 8);
  scene.step();
  for (std::int64_t at : {0, 1}) {  // two blocks are swapped
    scene.executor.bring_weights_home();
    const Footprint before(scene.device);
    scene.device.begin_anew();
    scene.device.counter(Fault::pinned_memory).arm(at);
    REQUIRE_THROWS_AS(scene.attempt(), MemoryRefused);
    scene.executor.bring_weights_home();
    require_same(before, Footprint(scene.device));
    scene.step();
    require_as_undisturbed(scene);
  }
}

TEST_CASE("P34 and P41: copies that end in any order, or ten times later, change no bit") {
  for (const Settings& settings : settings_to_disturb()) {
    INFO(describe(settings));
    undisturbed(settings);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      FaultScene scene(settings, seed);
      for (int i = 0; i < 3; ++i) {
        scene.step();
        require_as_undisturbed(scene);
      }
    }
    for (Link Links::*slow : {&Links::h2d, &Links::d2h}) {
      Machine machine = test_machine();
      (machine.links.*slow).rate.bytes_per_second /= 10;
      (machine.links.*slow).latency = (machine.links.*slow).latency * 10;
      FaultScene scene(settings, {}, machine);
      for (int i = 0; i < 3; ++i) {
        scene.step();
        require_as_undisturbed(scene);
      }
    }
  }
}
