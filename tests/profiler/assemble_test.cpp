#include "profiler/assemble.h"

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// Two blocks: X_0 = 2, X_1 = 3, X_2 = 4. Each saves 20 bytes: 12 in a storage that two tensors share, and 8.
Inventory inventory() {
  const std::vector<SavedTensor> saved{{"q", {12}, Scope::attention, {}, "0"},
                                       {"k", {12}, Scope::attention, {}, "0"},
                                       {"hidden", {8}, Scope::ffn, {}, {}}};
  return {
      "two", {{"block.0", "", {2}, {5}, {1}, saved}, {"block.1", "tail", {3}, {5}, {1}, saved}}, {4}, {10}};
}

// 100 bytes stay always; with the optimizer's 10, weights 2 x 5 and X_0: 122 when F_0 begins.
ChainReadings readings() {
  ChainReadings read;
  read.prologue = {{{7}}, {120}, {122}, {122}};
  // F_0 rises by X_1 + S + 6 = 3 + 20 + 6 and leaves X_1 + S; F_1 by 4 + 20 + 0.
  read.blocks.push_back({{{{10}, {30}, {11}}, {122}, {151}, {145}}, {{{20}}, {148}, {157}, {127}}, {7}, {}});
  read.blocks.push_back({{{{12}}, {145}, {169}, {169}}, {{{24}}, {169}, {178}, {146}}, {4}, {}});
  read.blocks[1].scope_forward[0] = {{5}, {9}, {6}};
  // E rises by X_2 + 9 and swaps the output for its gradient.
  read.epilogue = {{{6}}, {169}, {182}, {169}};
  read.optimizer = {{{4}}, {127}, {127}, {125}};
  return read;
}

}  // namespace

TEST_CASE("workspaces are what a step needs beyond what the model lets it have") {
  const Profile profile = assemble(inventory(), readings()).profile;
  const BlockSizes& first = profile.blocks[0].sizes;
  REQUIRE(first.forward_workspace.value == 6);   // 151 - 122 - 3 - 20
  REQUIRE(first.dropped_workspace->value == 4);  // 7 - 3
  REQUIRE(first.backward_workspace.value ==
          8);  // 157 - 148 - 1, the first block has no gradient of its input
  const BlockSizes& second = profile.blocks[1].sizes;
  REQUIRE(second.forward_workspace.value == 0);      // 169 - 145 - 4 - 20
  REQUIRE(second.dropped_workspace->value == 0);     // 4 - 4
  REQUIRE(second.backward_workspace.value == 5);     // 178 - 169 - 1 - 3
  REQUIRE(profile.fixed.epilogue_bytes.value == 9);  // 182 - 169 - 4
}

// Without the 8 of the ffn the first pass holds X_1 and 12, and 2 that the ffn starts from.
TEST_CASE("workspaces of a scope are what is left of its rises") {
  Inventory stock = inventory();
  stock.blocks[0].scope_input[1] = Bytes{2};
  ChainReadings read = readings();
  read.blocks[0].scope_dropped_rise[1] = Bytes{22};
  read.blocks[0].scope_rise[1] = Bytes{15};
  const Profile profile = assemble(stock, read).profile;
  const BlockSizes& sizes = profile.blocks[0].sizes;
  REQUIRE(sizes.scope_dropped_workspace[1]->value == 5);  // 22 - 3 - 12 - 2
  REQUIRE(sizes.scope_workspace[1]->value == 7);          // 15 - 8
  REQUIRE_FALSE(sizes.scope_workspace[0]);
  REQUIRE_FALSE(profile.blocks[1].sizes.scope_workspace[1]);
}

TEST_CASE("what lives always is what the first forward finds, less what is told apart") {
  const FixedCosts fixed = assemble(inventory(), readings()).profile.fixed;
  REQUIRE(fixed.resident.value == 100);  // 122 - 2 - 2 x 5 - 10
  REQUIRE(fixed.optimizer_state.value == 10);
  REQUIRE(fixed.output.value == 4);
}

TEST_CASE("times are medians of the repeats") {
  const Profile profile = assemble(inventory(), readings()).profile;
  REQUIRE(profile.blocks[0].times.forward.value == 11);
  REQUIRE(profile.blocks[0].times.forward_spread.value == 10);  // (30 - 10) / 2
  REQUIRE(profile.blocks[1].times.scope_forward[0]->value == 6);
  REQUIRE(!profile.blocks[1].times.scope_forward[1]);
  REQUIRE(profile.fixed.prologue.value == 7);
  REQUIRE(!profile.blocks[0].group);
  REQUIRE(profile.blocks[1].group == "tail");
}

// Of block 1, of 12 ns forward and 24 backward, attention took 6: its layers' medians 5 and 4 are cut by 6 /
// 9 to 3 and 2; with the third's 9 it is 14, cut by 12 / 14 to 2, 1 and 7. Backwards 20 and 28 are cut by 24
// / 48.
TEST_CASE("the times of layers are cut to their scope's and their block's") {
  Inventory stock = inventory();
  stock.blocks[1].layers = {
      {"a", Scope::attention, {3}}, {"b", Scope::attention, {1}}, {"c", Scope::ffn, {1}}};
  ChainReadings read = readings();
  read.blocks[1].layers = {{{{5}, {90}, {1}}, {}}, {{{4}}, {{20}}}, {{{9}}, {{28}}}};
  const Profile profile = assemble(stock, read).profile;
  REQUIRE(profile.blocks[0].layers.empty());
  const std::vector<Layer> expected{{"a", Scope::attention, {3}, {2}, {0}},
                                    {"b", Scope::attention, {1}, {1}, {10}},
                                    {"c", Scope::ffn, {1}, {7}, {14}}};
  const bool as_expected = profile.blocks[1].layers == expected;
  REQUIRE(as_expected);
}

// Its output and what it saves are 4 + 20, its gradients 1 + 3. `a` needs the most in its forward, `b` in its
// backward, `c` in the forward that drops.
TEST_CASE("a layer works in the most that it needs in any pass") {
  Inventory stock = inventory();
  stock.blocks[1].layers = {
      {"a", Scope::attention, {3}}, {"b", Scope::attention, {1}}, {"c", Scope::ffn, {1}}};
  ChainReadings read = readings();
  read.blocks[1].layers = {{{}, {}, {30}, {5}, {7}}, {{}, {}, {24}, {9}, {4}}, {{}, {}, {20}, {4}, {6}}};
  read.blocks[1].rest.dropped_rise = {3};
  const BlockProfile block = assemble(stock, read).profile.blocks[1];
  REQUIRE(block.layers[0].workspace->value == 6);   // 30 - 24
  REQUIRE(block.layers[1].workspace->value == 5);   // 9 - 4
  REQUIRE(block.layers[2].workspace->value == 2);   // 6 - 4
  REQUIRE(block.sizes.rest_workspace->value == 0);  // 3 - 4
  REQUIRE_FALSE(assemble(inventory(), readings()).profile.blocks[0].sizes.rest_workspace);
}

// Of the 3 B of X_1 one is of X_2, too; its gradient has 5, of which two are of that of X_2.
TEST_CASE("what a block hands on is not made by it") {
  Inventory stock = inventory();
  stock.blocks[1].handed_on = {1};
  stock.blocks[1].input_gradient = Bytes{5};
  stock.blocks[1].handed_on_gradient = {2};
  ChainReadings read = readings();
  read.blocks[1].forward.peak = {170};
  const Profile profile = assemble(stock, read).profile;
  const BlockSizes& sizes = profile.blocks[1].sizes;
  REQUIRE(sizes.forward_workspace.value == 2);   // 170 - 145 - 3 - 20
  REQUIRE(sizes.dropped_workspace->value == 1);  // 4 - 3
  REQUIRE(sizes.backward_workspace.value == 5);  // 178 - 169 - 1 - 3
  REQUIRE(sizes.handed_on.value == 1);
  REQUIRE(sizes.input_gradient->value == 5);
  REQUIRE(sizes.handed_on_gradient.value == 2);
}

TEST_CASE("a backward that rises by less than it makes is spared the rest") {
  ChainReadings read = readings();
  read.blocks[1].backward.peak = {171};  // 2 above, where it makes 1 + 3
  const BlockSizes sizes = assemble(inventory(), read).profile.blocks[1].sizes;
  REQUIRE(sizes.backward_workspace.value == 0);
  REQUIRE(sizes.backward_relief.value == 2);
}

TEST_CASE("bytes that the model does not know of are told") {
  // F_0 leaves 145 - 122 = 3 + 20. B_0: 127 - 148 = 1 - 20 - 2 - 3 + 3; B_1: 146 - 169 = 1 + 3 - 20 - 3 - 4.
  const Assembled all = assemble(inventory(), readings());
  REQUIRE(all.warnings == std::vector<std::string>{"block.0 keeps 3 bytes beyond its backward"});
  ChainReadings more = readings();
  more.blocks[0].backward.after = {124};
  REQUIRE(assemble(inventory(), more).warnings.empty());
  more.blocks[1].forward.after += Bytes{16};
  REQUIRE(assemble(inventory(), more).warnings ==
          std::vector<std::string>{"block.1 keeps 16 bytes that autograd did not report"});
}

TEST_CASE("readings of other blocks are a defect") {
  ChainReadings read = readings();
  read.blocks.pop_back();
  REQUIRE_THROWS_AS(assemble(inventory(), read), DefectError);
}
