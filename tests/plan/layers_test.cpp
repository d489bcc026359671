// Weights that come layer by layer.
#include <string>

#include "plan/program.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/traces/refusal.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace layers_test {

// Blocks of the worked example, each of two layers: 3 + 2 of 5 bytes, 4 + 6 of 10 ns, 8 + 12 of 20 ns.
Profile layered_profile(std::int64_t blocks) {
  Profile profile = example_profile(blocks);
  profile.blocks[0].times.scope_forward = {Nanos{4}, Nanos{6}, {}};
  profile.blocks[0].layers = {{"attention", Scope::attention, {3}, {4}, {8}},
                              {"ffn", Scope::ffn, {2}, {6}, {12}}};
  return profile;
}

Settings streaming(std::int64_t blocks, std::int64_t keep = 0) {
  Settings settings;
  settings.swap = {blocks, SwapWhich::last, SwapMode::stream, keep};
  return settings;
}

std::string compiled(const Profile& profile, const Settings& settings) {
  const BlockTable table(profile);
  return describe(compile(table, expand(table, settings).plan));
}

std::string refused_setting(const Profile& profile, const Settings& settings) {
  return refusal([&](const std::string&) { expand(BlockTable(profile), settings); }, "");
}

}  // namespace layers_test

using namespace layers_test;

// Each layer's load is issued when the layer before it begins. In the middle the last layer is used twice in
// a row, and stays.
TEST_CASE("each layer is fetched for its use, its successor before it runs") {
  REQUIRE(compiled(layered_profile(1), streaming(1)) ==
          "compute  prologue  0 ns\n"
          "compute  forward 0 layer 0  4 ns  after load_weights 0 layer 0\n"
          "compute  forward 0 layer 1  6 ns  after load_weights 0 layer 1\n"
          "compute  epilogue  6 ns\n"
          "compute  backward 0 layer 1  12 ns\n"
          "compute  backward 0 layer 0  8 ns  after load_weights 0 layer 0\n"
          "compute  optimizer  4 ns\n"
          "h2d  load_weights 0 layer 0  3 B  at ready of prologue\n"
          "h2d  load_weights 0 layer 1  2 B  at begin of forward 0 layer 0\n"
          "h2d  load_weights 0 layer 0  3 B  at begin of forward 0 layer 1\n");
}

// The first load of 3 is waited for, all others are over before they are needed: 3 + 2 * 30 + 6 + 4 = 73.
//
// Without weights: 102 + 2 * 22 = 146 after the forward, and 7 of B_1: 153. B_1 begins at 29, when its ffn of
// 2 is still there and its attention of 3 is there again: 158, where resident weights would take 163. Seven
// loads: (3 + 2) * 2 in the forward pass, 3 + 2 + 3 in the backward.
TEST_CASE("two blocks that stream, by hand") {
  const Simulated result = simulate(layered_profile(2), streaming(2), plain_machine());
  REQUIRE(result.run().step == Nanos{73});
  REQUIRE(result.timeline.stalls == std::vector<Stall>{{StallCause::weights, 0, {0}, {3}}});
  REQUIRE(result.run().peaks.device == Bytes{158});
  REQUIRE(result.run().peaks.host == Bytes{10});
  REQUIRE(result.timeline.counters.at("bytes_h2d") == 18);
}

// Both layers of block 1 stay from the forward pass to the backward: 3 B less to load. The load of block 0's
// ffn, the next, is issued at the begin of the use before it, the last forward: 153 + 3 + 2 + 2.
TEST_CASE("the last layers may be kept for the backward") {
  const Simulated result = simulate(layered_profile(2), streaming(2, 2), plain_machine());
  REQUIRE(result.run().step == Nanos{73});
  REQUIRE(result.timeline.counters.at("bytes_h2d") == 15);
  REQUIRE(result.run().peaks.device == Bytes{160});
}

// Of the last four blocks two stream, and three layers are kept: both of block 3, the ffn of block 2.
TEST_CASE("kept layers are counted from the end of the chain") {
  const Plan plan = expand(BlockTable(layered_profile(4)), streaming(2, 3)).plan;
  REQUIRE(plan.blocks[1].weights == Residence::resident);
  REQUIRE(plan.blocks[2].weights == Residence::stream);
  REQUIRE(plan.blocks[2].kept_layers == 1);
  REQUIRE(plan.blocks[3].kept_layers == 2);
  REQUIRE(expand(BlockTable(layered_profile(4)), streaming(4)).plan.blocks[0].weights == Residence::stream);
}

// 10 - 4 = 6 ns and 5 - 3 = 2 B belong to no layer.
TEST_CASE("what no layer has comes first, and stays") {
  Profile profile = layered_profile(1);
  profile.blocks[0].layers.pop_back();
  const std::string text = compiled(profile, streaming(1));
  REQUIRE(text.find("compute  forward 0  6 ns\ncompute  forward 0 layer 0  4 ns  after") !=
          std::string::npos);
  REQUIRE(text.find("compute  backward 0 layer 0  8 ns\ncompute  backward 0  12 ns\n") != std::string::npos);
  REQUIRE(simulate(profile, streaming(1), plain_machine()).run().peaks.host == Bytes{3});
}

// The ffn alone is made again, so its layer alone is fetched for that: 6 ns, then the backward of 20.
TEST_CASE("a scope that is recomputed needs its own layers") {
  Settings settings = streaming(1);
  settings.policy = Policy::recompute;
  settings.scope = Scope::ffn;
  REQUIRE(compiled(layered_profile(1), settings)
              .find("compute  epilogue  6 ns\n"
                    "compute  recompute 0 layer 1  6 ns\n"
                    "compute  backward 0 layer 1  12 ns\n") != std::string::npos);
  REQUIRE(simulate(layered_profile(1), settings, plain_machine()).run().step ==
          Nanos{3 + 10 + 6 + 6 + 20 + 4});
}

// From the last on the layers have 2, 3, 2, 3 B: one fits in 4 B, two in 5, three in 9; of those two may
// stay.
TEST_CASE("of the layers that may stay as many do as there is room for") {
  const BlockTable table(layered_profile(2));
  const auto kept = [&](std::int64_t keep, std::int64_t most) {
    Settings settings = streaming(2, keep);
    settings.swap.keep_max = Bytes{most};
    const Plan plan = expand(table, settings).plan;
    return std::pair(plan.blocks[0].kept_layers, plan.blocks[1].kept_layers);
  };
  REQUIRE(kept(4, 1) == std::pair(0U, 0U));
  REQUIRE(kept(4, 4) == std::pair(0U, 1U));
  REQUIRE(kept(4, 5) == std::pair(0U, 2U));
  REQUIRE(kept(4, 9) == std::pair(1U, 2U));
  REQUIRE(kept(2, 9) == std::pair(0U, 2U));
  Settings settings = streaming(2, 2);
  settings.swap.keep_max = Bytes{4};
  const Plan plan = expand(table, settings).plan;
  const Profile profile = layered_profile(2);
  REQUIRE(parse_plan(to_json(plan, profile), profile).settings == settings);
  REQUIRE(describe(settings) == "keep, swap 2 last stream keep 2 in 4 B");
  settings.swap.keep_max = Bytes{-1};
  REQUIRE(refused_setting(layered_profile(2), settings) == "swap_keep_max_bytes: must not be negative");
}

TEST_CASE("layers survive their file, and are part of the structure") {
  const Profile profile = layered_profile(2);
  REQUIRE(parse_profile(to_json(profile)) == profile);
  REQUIRE(profile.digest() != example_profile(2).digest());
}

TEST_CASE("layers that have more than their block are refused") {
  const std::string text = to_json(layered_profile(1));
  const auto refused = [&](const std::string& from, const std::string& to) {
    return refusal(parse_profile, changed(text, from, to));
  };
  REQUIRE(refused("\"weight_bytes\": 2", "\"weight_bytes\": 3")
              .starts_with("blocks[0].layers[1]: expected layers whose weight_bytes adds up to at most"));
  REQUIRE(refused("\"backward_ns\": 12", "\"backward_ns\": 13").starts_with("blocks[0].layers[1]: "));
  REQUIRE(refused("\"ffn\": 6", "\"ffn\": 5").starts_with("blocks[0].layers[1]: "));
  REQUIRE(refused("\"name\": \"ffn\"", "\"nome\": \"ffn\"").starts_with("blocks[0].layers[1]"));
}

TEST_CASE("streaming what has no layers is refused") {
  REQUIRE(
      refused_setting(example_profile(), streaming(1)).starts_with("swap_mode: the profile lists no layers"));
  Settings settings;
  settings.swap.keep = 1;
  REQUIRE(expand(BlockTable(example_profile()), settings).warnings ==
          std::vector<std::string>{"swap_keep has no effect: no layers stream"});
  Plan plan = expand(BlockTable(layered_profile(2)), streaming(2)).plan;
  const auto verdict = [&] {
    return refusal([&](const std::string&) { check(plan, BlockTable(layered_profile(2))); }, "");
  };
  plan.blocks[1].kept_layers = 3;
  REQUIRE(verdict() == "blocks[1].kept_layers: 3 of 2");
  plan.blocks[1].weights = Residence::h2d;
  REQUIRE(verdict() == "blocks[1].kept_layers: only layers whose weights stream are kept");
}
