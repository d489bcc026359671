// What is in memory before, around and after the training steps.
#include "simulator/phases.h"

#include "plan/program_parts.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"

using namespace stowage;
using namespace stowage::tests;

namespace phases_test {

constexpr std::int64_t giga = 1'000'000'000, mega = 1'000'000;

// 100 B resident, 40 B of optimizer states, four blocks of 5 B.
Profile with_states() {
  Profile profile = example_profile();
  profile.fixed.optimizer_state = {40};
  return profile;
}

std::vector<RunPhase> phases_of(const Profile& profile, const Settings& settings, const Machine& machine,
                                LoadMode load) {
  const BlockTable table(profile);
  return simulate_phases(table, expand(table, settings).plan, machine, profile.phases, load);
}

const RunPhase& phase(const std::vector<RunPhase>& phases, PhaseKind kind) {
  return phases.at(static_cast<std::size_t>(kind));
}

Peaks peaks(const std::vector<RunPhase>& phases, PhaseKind kind) {
  return phase(phases, kind).outcome.run.peaks;
}

// Device, host and pinned; on an ideal arena with exact sizes.
Peaks expected(std::int64_t device, std::int64_t host, std::int64_t pinned) {
  return {{device}, {device}, {host}, {0}, {pinned}};
}

TEST_CASE("each phase by hand") {
  const auto phases = phases_of(with_states(), {}, plain_machine(), LoadMode::staged);
  REQUIRE(peaks(phases, PhaseKind::load) == expected(120, 120, 0));      // 100 + 4 * 5, and the file
  REQUIRE(peaks(phases, PhaseKind::first_step) == expected(217, 0, 0));  // as without states: they come after
  REQUIRE(peaks(phases, PhaseKind::steady_step) == expected(257, 0, 0));  // 217 + 40
  REQUIRE(peaks(phases, PhaseKind::validation) == expected(169, 0, 0));   // 160 + X_0 + X_i + X_{i+1} + 3
  REQUIRE(peaks(phases, PhaseKind::save) == expected(160, 160, 0));
  REQUIRE(peaks(phases, PhaseKind::resume) == expected(160, 160, 0));
  REQUIRE(worst(phases, MemorySpace::device).kind == PhaseKind::steady_step);
  REQUIRE(worst(phases, MemorySpace::host).kind == PhaseKind::save);
  const auto streamed = phases_of(with_states(), {}, plain_machine(), LoadMode::streamed);
  REQUIRE(peaks(streamed, PhaseKind::load) == expected(120, 100, 0));  // the largest piece is the first
}

// Two blocks of four are swapped: 10 B of weights live on the host, pinned. The file is half as large as
// memory: its last piece, of 5 B, is 3 B in it (50 + 2 + 3 + 2 + 3 = 60).
TEST_CASE("swapped weights are loaded to the host, and stay there while others are saved") {
  Profile profile = with_states();
  profile.phases.checkpoint = Bytes{60};
  Settings settings;
  settings.swap = {2, SwapWhich::last, SwapMode::h2d};
  const auto staged = phases_of(profile, settings, plain_machine(), LoadMode::staged);
  REQUIRE(peaks(staged, PhaseKind::load) == expected(110, 60 + 10, 10));
  REQUIRE(peaks(staged, PhaseKind::save) == expected(150, 150 + 10, 10));
  const auto streamed = phases_of(profile, settings, plain_machine(), LoadMode::streamed);
  REQUIRE(peaks(streamed, PhaseKind::load) == expected(110, 50, 10));
  // Forward: 150, of the two swapped blocks one in use and one on its way: 10, and 2 + 2 + 2 + 3 of
  // activations.
  REQUIRE(peaks(streamed, PhaseKind::validation) == expected(150 + 10 + 9, 10, 10));
}

// Weights, gradients and two moments of 128.4 MB each, and 4.1 MB beside; reported as 389.3 MB over the
// weights.
TEST_CASE("optimizer states are there from the end of the first step on") {
  Profile profile;
  profile.name = "adamw";
  profile.blocks = {example_profile().blocks[0]};
  profile.blocks[0].count = 10;
  profile.blocks[0].sizes = {{}, {12'840'000}, {12'840'000}, {}, {}, {}, {}};
  profile.blocks[0].saved.clear();
  profile.fixed.optimizer = {4};
  profile.fixed.resident = {4'100'000};
  profile.fixed.optimizer_state = {256'800'000};
  const auto phases = phases_of(profile, {}, plain_machine(), LoadMode::streamed);
  constexpr std::int64_t weights = 128'400'000;
  for (PhaseKind kind : {PhaseKind::first_step, PhaseKind::steady_step})
    REQUIRE(peaks(phases, kind).device == Bytes{weights + 389'300'000});  // 517.7 MB
  // When it ends the gradients are gone, and the next forward begins with what is left.
  const BlockTable table(profile);
  const auto first =
      simulate(with_new_optimizer_state(compile(table, expand(table, {}).plan)), plain_machine());
  REQUIRE(first.timeline.memory.device.front().bytes == Bytes{weights + 4'100'000});
  REQUIRE(first.timeline.memory.device.back().bytes == Bytes{weights + 4'100'000 + 256'800'000});
}

// States and three of the four blocks' weights live on the host: 40 + 15 B, pinned. On the device stay 100
// and one block of 5. Saving gathers what is not there yet.
TEST_CASE("optimizer states on the host are loaded there, and saved from there") {
  Profile profile = with_states();
  profile.fixed.host_optimizer = Nanos{10};
  Settings settings;
  settings.step.optimizer = OptimizerPlace::host;
  settings.swap = {3, SwapWhich::last, SwapMode::h2d};
  const auto phases = phases_of(profile, settings, plain_machine(), LoadMode::staged);
  REQUIRE(peaks(phases, PhaseKind::resume).device == Bytes{105});
  REQUIRE(peaks(phases, PhaseKind::save) == expected(105, 105 + 55, 55));
}

// A full finetune of LTX reserves 20.357 GB in its epochs and 28.332 GB when it validates.
TEST_CASE("the worst phase may be validation") {
  Profile profile = with_states();
  profile.fixed.resident = {20'357 * mega - 157};  // 257 - 100
  REQUIRE(worst(phases_of(profile, {}, plain_machine(), LoadMode::staged), MemorySpace::device).kind ==
          PhaseKind::steady_step);
  profile.phases.validation = {28'332 * mega - (20'357 * mega - 257 + 169)};
  const auto phases = phases_of(profile, {}, plain_machine(), LoadMode::staged);
  REQUIRE(peaks(phases, PhaseKind::steady_step).device == Bytes{20'357 * mega});
  REQUIRE(peaks(phases, PhaseKind::validation).device == Bytes{28'332 * mega});
  REQUIRE(worst(phases, MemorySpace::device).kind == PhaseKind::validation);
}

// 40 blocks of 0.35 GB on the device that take 0.7 GB each in the file; 24 GB of host memory.
TEST_CASE("a checkpoint may be too large for the host though the device holds the model") {
  Profile profile;
  profile.name = "cast";
  profile.blocks = {example_profile().blocks[0]};
  profile.blocks[0].count = 40;
  profile.blocks[0].sizes.weight = {350 * mega};
  profile.phases.checkpoint = Bytes{28 * giga};
  Machine machine = plain_machine();
  machine.host.memory = machine.host.pinned_limit = {24 * giga};
  const auto staged = phases_of(profile, {}, machine, LoadMode::staged);
  const auto* shortage = std::get_if<OutOfMemory>(&phase(staged, PhaseKind::load).outcome.verdict);
  REQUIRE(shortage);
  REQUIRE(shortage->space == MemorySpace::host);
  REQUIRE(shortage->needed == Bytes{28 * giga});
  REQUIRE(shortage->free == Bytes{24 * giga});
  const auto streamed = phases_of(profile, {}, machine, LoadMode::streamed);
  REQUIRE(std::holds_alternative<Ran>(phase(streamed, PhaseKind::load).outcome.verdict));
  REQUIRE(peaks(streamed, PhaseKind::load).host == Bytes{700 * mega});
}

// 54 GB, of which others take 10: a pool of 8 GB and a checkpoint of 37.8 GB do not go together, one after
// the other they do.
TEST_CASE("a pinned pool and a staged checkpoint may not fit beside each other") {
  Profile profile;
  profile.name = "pool";
  profile.blocks = {example_profile().blocks[0]};
  profile.blocks[0].count = 40;
  profile.blocks[0].sizes.weight = {400 * mega};
  profile.phases.checkpoint = Bytes{37'800 * mega};
  Machine machine = plain_machine();
  machine.host.memory = machine.host.pinned_limit = {(54 - 10) * giga};
  Settings settings;
  const auto without = phases_of(profile, settings, machine, LoadMode::staged);
  REQUIRE(std::holds_alternative<Ran>(phase(without, PhaseKind::load).outcome.verdict));
  settings.swap = {20, SwapWhich::last, SwapMode::h2d};  // 20 * 0.4 = 8
  const auto with = phases_of(profile, settings, machine, LoadMode::staged);
  REQUIRE(std::holds_alternative<OutOfMemory>(phase(with, PhaseKind::load).outcome.verdict));
  REQUIRE(peaks(with, PhaseKind::load).host == Bytes{45'800 * mega});
  REQUIRE(peaks(with, PhaseKind::load).host_pinned == Bytes{8 * giga});
}

// Requires, in simulate(), that engine and evaluator agree and that verify finds nothing.
TEST_CASE("the programs of all phases are sound, whatever the plan") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::rich_case(seed);
    if (seed % 3 == 0) random.machine.arena = ArenaKind::caching;
    const BlockTable table(random.profile);
    const Plan plan = expand(table, random.settings).plan;
    const Program steady = compile(table, plan);
    const Simulated step = simulate(steady, random.machine);
    const Simulated first = simulate(with_new_optimizer_state(steady), random.machine);
    REQUIRE(first.run().step == step.run().step);
    REQUIRE(first.run().peaks.device <= step.run().peaks.device);
    const Simulated forward = simulate(compile_forward(table, plan), random.machine);
    REQUIRE(forward.run().peaks.host_activation == Bytes{});
    for (LoadMode load : {LoadMode::staged, LoadMode::streamed})
      simulate(compile_load(table, plan, load, {}, seed % 2 == 0), random.machine);
    simulate(compile_save(table, plan), random.machine);
  }
}

}  // namespace phases_test
