// Where the optimizer runs, and how often.
#include "plan/optimizer_shares.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace optimizer_test {

// Two blocks of the worked example with 10 bytes of gradients each, 40 of optimizer states.
Profile trained_profile() {
  Profile profile = example_profile(2);
  profile.blocks[0].sizes.gradient = {10};
  profile.fixed.optimizer_state = {40};
  profile.fixed.host_optimizer = Nanos{30};
  return profile;
}

Settings optimizing(OptimizerPlace place, std::int64_t accumulate = 1) {
  Settings settings;
  settings.step = {accumulate, place};
  return settings;
}

Simulated run(const Profile& profile, OptimizerPlace place) {
  return simulate(profile, optimizing(place), plain_machine());
}

}  // namespace optimizer_test

using namespace optimizer_test;

// Forward until 20, epilogue until 26, B_1 until 46, B_0 until 66, the optimizer until 70. After the forward
// pass 100 + 40 + 2 * 5 + 2 + 2 * 22 = 196; B_1 adds 4 + 10 + 2.
TEST_CASE("an optimizer on the device") {
  const Simulated result = run(trained_profile(), OptimizerPlace::device);
  REQUIRE(result.run().step == Nanos{70});
  REQUIRE(result.run().peaks.device == Bytes{212});
  REQUIRE(result.run().peaks.host == Bytes{});
}

// Gradients go at 46 and at 66, ten each, so that the optimizer begins at 76; it takes 30; weights come back,
// [106, 116) and [116, 126). Without the states the peak is 172. On the host there are 40 of states and, from
// 66 to 106, both gradients.
TEST_CASE("an optimizer on the host") {
  const Simulated result = run(trained_profile(), OptimizerPlace::host);
  REQUIRE(result.run().step == Nanos{126});
  REQUIRE(result.run().compute == Nanos{66 + 30});
  REQUIRE(result.timeline.stalls ==
          std::vector<Stall>{{StallCause::store, {}, {66}, {76}}, {StallCause::drain, {}, {106}, {126}}});
  REQUIRE(result.run().peaks.device == Bytes{172});
  REQUIRE(result.run().peaks.host == Bytes{60});
  REQUIRE(result.run().peaks.host_activation == Bytes{});
}

// Half of states and time for each block. The first 20 B come while B_0 runs, [46, 66). When its update
// begins, the next 20 are issued, [66, 86); they are waited for from 68 on. States go back, [68, 88) and [88,
// 108). B_0 needs 14 beside the 144 that are left, and the first states are there: 178.
TEST_CASE("optimizer states that stream") {
  const Simulated result = run(trained_profile(), OptimizerPlace::streamed);
  REQUIRE(result.run().step == Nanos{108});
  REQUIRE(result.run().compute == Nanos{70});
  REQUIRE(result.timeline.stalls ==
          std::vector<Stall>{{StallCause::restore, 1, {68}, {86}}, {StallCause::drain, {}, {88}, {108}}});
  REQUIRE(result.run().peaks.device == Bytes{178});
  REQUIRE(result.run().peaks.host == Bytes{40});
}

// 7 of 10 and 3 of 10: floor(4.9), and what is left.
TEST_CASE("shares go by gradients and lose nothing") {
  Profile profile = trained_profile();
  profile.blocks = profile.expanded();
  profile.blocks[0].sizes.gradient = {7};
  profile.blocks[1].sizes.gradient = {3};
  profile.fixed.optimizer = {7};
  auto shares = optimizer_shares(BlockTable(profile));
  REQUIRE(shares.size() == 2);
  REQUIRE((shares[0].time == Nanos{4} && shares[1].time == Nanos{3}));
  REQUIRE((shares[0].state == Bytes{28} && shares[1].state == Bytes{12}));
  profile.blocks[0].sizes.gradient = profile.blocks[1].sizes.gradient = {};
  shares = optimizer_shares(BlockTable(profile));
  REQUIRE(shares.size() == 1);
  REQUIRE(!shares[0].block);
  REQUIRE((shares[0].time == Nanos{7} && shares[0].state == Bytes{40}));
}

// Weights that two-way swapping keeps on the host are updated there: those of block 1 do not come back.
TEST_CASE("what lives on the host does not come back from its update") {
  Settings settings = optimizing(OptimizerPlace::host);
  settings.swap = {1, SwapWhich::last, SwapMode::two_way};
  const Simulated result = simulate(trained_profile(), settings, plain_machine());
  Bytes after_update;
  for (const Span& span : result.timeline.spans)
    if (span.lane == Lane::h2d && span.begin >= result.run().step - Nanos{10}) after_update += span.bytes;
  REQUIRE(after_update == Bytes{10});
}

TEST_CASE("a step on the host that was not measured is refused") {
  Profile profile = trained_profile();
  profile.fixed.host_optimizer.reset();
  try {
    expand(BlockTable(profile), optimizing(OptimizerPlace::host));
    REQUIRE(false);
  } catch (const InputError& error) {
    REQUIRE(error.path() == "optimizer");
    REQUIRE(error.reason().starts_with("the profile has no fixed.host_optimizer_ns"));
  }
  REQUIRE(parse_profile(to_json(trained_profile())) == trained_profile());
}

// Twice the 126 of forward, loss and backward, and one optimizer step of 4. In the second pass all four
// gradients are there, and B_3 makes one more beside its own: 210 + 4 + 4 + 1 + 2.
TEST_CASE("micro-batches share one optimizer step, and their gradients live across") {
  const Run run = simulate(example_profile(), optimizing(OptimizerPlace::device, 2), plain_machine()).run();
  REQUIRE(run.step == Nanos{256});
  REQUIRE(run.peaks.device == Bytes{221});
}

// Gradients go to the host in the last pass alone: 126, then 66 and 10 more, 30 of the update, 20 back.
TEST_CASE("an optimizer on the host after two micro-batches") {
  const Simulated result = simulate(trained_profile(), optimizing(OptimizerPlace::host, 2), plain_machine());
  REQUIRE(result.run().step == Nanos{66 + 66 + 10 + 30 + 20});
  REQUIRE(result.timeline.counters.at("bytes_d2h") == 20);
}

// The loads of each pass begin afresh: none of the second pass waits in the way of a restore of the first.
TEST_CASE("swapped weights and micro-batches") {
  Settings settings = optimizing(OptimizerPlace::device, 2);
  settings.policy = Policy::offload;
  settings.swap = {3, SwapWhich::last, SwapMode::two_way};
  settings.transfer.prefetch = 3;
  const Simulated result = simulate(example_profile(), settings, plain_machine());
  REQUIRE(std::holds_alternative<Ran>(result.outcome.verdict));
  // Uses of a pass: F1, F2, F3 and B3 together, B2, B1.
  REQUIRE(result.timeline.counters.at("bytes_d2h") == 2 * (5 * 5 + 4 * 20));
}

TEST_CASE("a plan says where its optimizer is and how many micro-batches it has") {
  Plan plan = expand(BlockTable(trained_profile()), optimizing(OptimizerPlace::streamed, 3)).plan;
  plan.settings.reset();
  REQUIRE(parse_plan(to_json(plan, trained_profile()), trained_profile()) == plan);
  Settings none;
  none.step.accumulate = 0;
  REQUIRE_THROWS_AS(check(none), InputError);
  none.step.accumulate = 1001;
  REQUIRE_THROWS_AS(check(none), InputError);
}
