// A block that recomputes one of its scopes.
#include <string>

#include "plan/program.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace scope_test {

// The worked example, and how long its scopes take: 6 + 4 = 10.
Profile timed_profile() {
  Profile profile = example_profile();
  profile.blocks[0].times.scope_forward = {Nanos{6}, Nanos{4}, {}};
  return profile;
}

Settings recompute(Scope scope, Policy policy = Policy::recompute) {
  Settings settings;
  settings.policy = policy;
  settings.scope = scope;
  return settings;
}

// "blocks[1].scope: ..." or "accepted".
std::string verdict_on(const Plan& plan, const Profile& profile) {
  try {
    check(plan, BlockTable(profile));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Each block recomputes its ffn.
Plan free_plan() {
  Plan plan = expand(BlockTable(timed_profile()), recompute(Scope::ffn)).plan;
  plan.settings.reset();
  return plan;
}

}  // namespace scope_test

using namespace scope_test;

// 130 and 4 blocks that run 4 ns again: 146.
//
// A block keeps its 12 of attention and 2 that the ffn starts from, beside its output of 2: 16. So 122 + 4 *
// 16 = 186 after the forward; the recomputation of block 3 adds 8 + 3 + 2 = 199 and leaves 194; B_3 adds 4 +
// 1 + 2: 201.
TEST_CASE("recomputing the ffn alone") {
  const Simulated ffn = simulate(timed_profile(), recompute(Scope::ffn), plain_machine());
  REQUIRE(ffn.run().step == Nanos{146});
  REQUIRE(ffn.run().peaks.device == Bytes{201});
  REQUIRE(ffn.span(StepKind::recompute, 2).end - ffn.span(StepKind::recompute, 2).begin == Nanos{4});
}

// Attention starts from the block's input, which stays anyway: a block keeps 8 + 2, and 122 + 4 * 10 = 162;
// R_3 adds 12 + 3 + 2 and leaves 174; B_3 adds 7: 181. Each block runs 6 ns again: 154.
TEST_CASE("recomputing attention alone") {
  const Run run = simulate(timed_profile(), recompute(Scope::attention), plain_machine()).run();
  REQUIRE(run.step == Nanos{154});
  REQUIRE(run.peaks.device == Bytes{181});
}

// What the ffn starts from travels: 2 B a block. Stores end at 12, 22, 32, 42, each 2 ns after its forward.
// In the backward pass at most two are back at once (prefetch 1), so that of 201 the ones of blocks 0 and 1
// are away: 197.
TEST_CASE("recompute+offload sends what the scope starts from") {
  const Simulated ffn =
      simulate(timed_profile(), recompute(Scope::ffn, Policy::recompute_offload), plain_machine());
  REQUIRE(ffn.run().step == Nanos{146});
  REQUIRE(ffn.run().peaks.device == Bytes{197});
  REQUIRE(ffn.run().peaks.host_activation == Bytes{8});
  REQUIRE(ffn.span(StepKind::store_input, 1).end == Nanos{22});
}

TEST_CASE("a profile may say what a scope starts from") {
  Profile profile = timed_profile();
  profile.blocks[0].sizes.scope_input = {Bytes{5}, Bytes{0}, {}};
  // The ffn's input is saved by attention, say: nothing is kept for it. 201 - 4 * 2.
  REQUIRE(simulate(profile, recompute(Scope::ffn), plain_machine()).run().peaks.device == Bytes{193});
  REQUIRE(simulate(profile, recompute(Scope::attention), plain_machine()).run().peaks.device ==
          Bytes{201});  // 181 + 4 * 5
  REQUIRE(parse_profile(to_json(profile)) == profile);
  REQUIRE(profile.digest() != timed_profile().digest());
}

// Nothing is kept for the ffn, so nothing travels: no copy of no bytes either.
TEST_CASE("a scope that starts from what stays sends nothing") {
  Profile profile = timed_profile();
  profile.blocks[0].sizes.scope_input[1] = Bytes{0};
  const BlockTable table(profile);
  const Program program =
      compile(table, expand(table, recompute(Scope::ffn, Policy::recompute_offload)).plan);
  REQUIRE(program.lane(Lane::d2h).empty());
  REQUIRE(program.lane(Lane::h2d).empty());
}

// As above, 186 after the forward; the recomputation of block 3 adds 8 + 9: 203, and not the output. With 20
// more in the first pass, F_3 holds 122 + 4 * 16 + 20 = 206.
TEST_CASE("a profile may say what a scope works in") {
  Profile profile = timed_profile();
  BlockSizes& sizes = profile.blocks[0].sizes;
  sizes.scope_workspace = {Bytes{50}, Bytes{9}, {}};
  REQUIRE(simulate(profile, recompute(Scope::ffn), plain_machine()).run().peaks.device == Bytes{203});
  sizes.scope_dropped_workspace = {Bytes{50}, Bytes{20}, {}};
  REQUIRE(simulate(profile, recompute(Scope::ffn), plain_machine()).run().peaks.device == Bytes{206});
  REQUIRE(parse_profile(to_json(profile)) == profile);
  REQUIRE(profile.digest() != timed_profile().digest());
}

TEST_CASE("interval and stride choose the blocks that recompute a scope") {
  Settings settings = recompute(Scope::ffn);
  settings.interval = 1;
  settings.stride = 2;
  REQUIRE(simulate(timed_profile(), settings, plain_machine()).run().step == Nanos{138});  // blocks 0 and 2
  settings.interval = settings.stride.emplace(2);
  REQUIRE(simulate(timed_profile(), settings, plain_machine()).run().step == Nanos{146});
}

TEST_CASE("without the time of a scope its recomputation is refused") {
  const BlockTable table(example_profile());
  for (Policy policy : {Policy::recompute, Policy::recompute_offload}) {
    try {
      expand(table, recompute(Scope::ffn, policy));
      REQUIRE(false);
    } catch (const InputError& error) {
      REQUIRE(error.path() == "scope");
      REQUIRE(error.reason().starts_with("the profile has no scope_forward_ns of ffn for block 0"));
    }
  }
  REQUIRE(expand(table, recompute(Scope::ffn, Policy::offload)).warnings.empty());
}

// Checkpointing the ffn and sending what attention saved is one plan: block 3 keeps nothing but inputs.
TEST_CASE("one block may recompute a scope and offload another") {
  Plan plan = free_plan();
  for (BlockDecision& block : plan.blocks) block.offload = {0};
  REQUIRE(verdict_on(plan, timed_profile()) == "accepted");
  const Simulated mixed = simulate(compile(BlockTable(timed_profile()), plan), plain_machine());
  REQUIRE(mixed.run().peaks.host_activation == Bytes{48});  // 4 * 12
  REQUIRE(parse_plan(to_json(plan, timed_profile()), timed_profile()) == plan);
}

TEST_CASE("free plans that contradict themselves are told where") {
  const Profile profile = timed_profile();
  Plan plan = free_plan();
  plan.blocks[1].offload = {1};
  REQUIRE(verdict_on(plan, profile) ==
          "blocks[1].offload: what is recomputed is not saved, and cannot be offloaded");
  plan = free_plan();
  plan.blocks[1].segment = 3;
  REQUIRE(verdict_on(plan, profile) ==
          "blocks[1].segment: a block that recomputes a scope is a segment of its own");
  plan = free_plan();
  plan.blocks[1].scope = Scope::other;
  REQUIRE(verdict_on(plan, profile) ==
          "blocks[1].scope: the profile has no scope_forward_ns of other for this block");
  plan = free_plan();
  plan.blocks[1].activation = Activation::keep;
  REQUIRE(verdict_on(plan, profile) == "blocks[1].scope: only a recomputed block recomputes a scope");
  plan.blocks[1].scope.reset();
  plan.blocks[1].offload_input = true;
  REQUIRE(verdict_on(plan, profile).starts_with("blocks[1].offload_input: "));
  plan = free_plan();
  plan.blocks[1].scope.reset();
  REQUIRE(verdict_on(plan, profile) ==
          "blocks[1].segment: a block that is recomputed whole belongs to a segment");
}
