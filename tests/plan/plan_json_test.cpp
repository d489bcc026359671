#include <string>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "traces/error.h"

using namespace stowage;

namespace {

Plan example_plan(Policy policy) {
  Settings settings;
  settings.policy = policy;
  settings.interval = 2;
  settings.stride = 3;
  settings.scope = policy == Policy::offload ? std::optional(Scope::ffn) : std::nullopt;
  settings.swap = {1, SwapWhich::first, SwapMode::two_way};
  settings.transfer = {2, 3, 1, 4, Bytes{1000}};
  Plan plan = expand(BlockTable(example_profile()), settings).plan;
  plan.predicted = Prediction{{5}, {4}, {1}, {7}, {8}, {9}};
  plan.bound = Nanos{3};
  return plan;
}

std::string refusal(std::string text, const std::string& from, const std::string& to,
                    const Profile& profile) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    parse_plan(text, profile);
  } catch (const InputError& error) {
    return error.path() + ": " + error.reason();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("plans survive their file") {
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload}) {
    const Plan plan = example_plan(policy);
    REQUIRE(parse_plan(to_json(plan, example_profile()), example_profile()) == plan);
  }
}

TEST_CASE("a free plan has no settings") {
  Plan plan = example_plan(Policy::offload);
  plan.settings.reset();
  plan.blocks[3].offload = {0};
  REQUIRE(parse_plan(to_json(plan, example_profile()), example_profile()) == plan);
}

TEST_CASE("storages with one name are told apart by number") {
  Profile profile = example_profile();
  profile.blocks[0].saved[1].name = "qkv";
  Settings settings;
  settings.policy = Policy::offload;
  const Plan plan = expand(BlockTable(profile), settings).plan;
  REQUIRE(parse_plan(to_json(plan, profile), profile) == plan);
}

TEST_CASE("wrong plans are refused with the path of the key") {
  const Profile profile = example_profile();
  const std::string text = to_json(example_plan(Policy::recompute), profile);
  REQUIRE(refusal(text, "\"activation\": \"keep\"", "\"activation\": \"drop\"", profile)
              .starts_with("blocks[2].activation: "));
  REQUIRE(refusal(text, "\"prefetch\": 2", "\"prefetch\": -2", profile).starts_with("settings.prefetch: "));
  REQUIRE(refusal(text, "\"stride\": 3", "\"stride\": 1", profile).starts_with("settings.stride: "));
  REQUIRE(
      refusal(text, "\"weights\": \"two-way\"", "\"wheels\": 4", profile).starts_with("blocks[0].wheels"));
  Profile other = profile;
  other.blocks[0].sizes.input = {3};
  REQUIRE(refusal(text, "step_ns", "step_ns", other).starts_with("subject: "));
}
