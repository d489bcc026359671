// Costs of a block by hand.
#include "forecast/shape_cost.h"

#include "tests/catch.h"
#include "tests/validation/small_family.h"

using namespace stowage;
using namespace stowage::tests;

namespace shape_cost_test {
namespace {

// Ten tokens of width 10, a hidden layer of 40, one attention of two heads; two bytes a number, batch 3.
Family plain_family() {
  Family family = small_family(Segmenting::contiguous);
  family.batch = 3;
  family.activation_bytes = 2;
  GroupShape& shape = family.groups.front().shape;
  shape.attentions = 1;
  shape.ffn_width = 40;
  shape.weights.heads = 2;
  shape.weights.query_width = shape.weights.key_value_width = 10;
  return family;
}

BlockCost cost_of(const Family& family, const TrainedShape& training = {}) {
  return block_cost(family, family.groups.front().shape, training);
}

}  // namespace

TEST_CASE("what a block multiplies and keeps") {
  const BlockCost cost = cost_of(plain_family());
  REQUIRE(cost.input == 3 * 10 * 10 * 2);
  REQUIRE(cost.attention_kept == 600);
  REQUIRE(cost.ffn_kept == 3 * 10 * 40 * 2);
  // Four projections and the first of the hidden layer take the block's width, the second its own.
  REQUIRE(cost.projected == 5 * 600 + 2400);
  REQUIRE(cost.projections == 6);
  REQUIRE(cost.linear_flops == 2 * 30 * (4 * 100 + 2 * 10 * 40));
  REQUIRE(cost.attention_flops == 4 * 3 * 10 * 10 * 10);
  REQUIRE(cost.scores_kept == 0);
}

TEST_CASE("without flash attention the scores of each head are kept twice") {
  TrainedShape training;
  training.flash_attention = false;
  REQUIRE(cost_of(plain_family(), training).scores_kept == 2 * 3 * 2 * 2 * 10 * 10);
}

// A third matrix, and three tensors of the hidden layer instead of one.
TEST_CASE("a gated hidden layer") {
  Family family = plain_family();
  family.groups.front().shape.ffn_gated = true;
  const BlockCost cost = cost_of(family);
  REQUIRE(cost.ffn_kept == 3 * 2400);
  REQUIRE(cost.linear_flops == 2 * 30 * (4 * 100 + 3 * 10 * 40));
}

// 4 x 100 of the attention and 2 x 400 of the hidden layer are trained in full; of rank 2 eight matrices of
// 2 x 10; as Kronecker products a quarter of the one and a sixteenth of the other.
TEST_CASE("what is trained") {
  const Family family = plain_family();
  const auto trained = [&](const Recipe& recipe) { return trained_in(family.groups.front().shape, recipe); };
  Recipe recipe;
  recipe.adapter = AdapterKind::full;
  REQUIRE(trained(recipe) == 1200);
  recipe.adapter = AdapterKind::lora;
  recipe.rank = 2;
  REQUIRE(trained(recipe) == 8 * 2 * 10);
  recipe.adapter = AdapterKind::lokr;
  recipe.attention_factor = 2;
  recipe.ffn_factor = 4;
  REQUIRE(trained(recipe) == 100 + 50);
}

TEST_CASE("a family is the sum of its blocks") {
  Family family = plain_family();
  family.outside = {family.groups.front()};
  family.outside.front().blocks = 1;
  family.facts.other_parameters = 7;
  family.facts.vocabulary = 100;
  const FamilyCost cost = family_cost(family, {});
  REQUIRE(cost.count == 4);
  REQUIRE(cost.blocks.input == 4 * 600);
  REQUIRE(cost.outside.input == 600);
  REQUIRE(cost.block_weights == 4 * 1200);
  REQUIRE(cost.other_weights == 1200 + 7);
  // Logits of 30 tokens in two bytes, in four, and their gradient.
  REQUIRE(cost.epilogue == 30 * 100 * 10);
}

TEST_CASE("weights by how they are held and trained") {
  REQUIRE(precision_of("int8-sdnq-hadamard") == Precision::int8);
  REQUIRE(precision_of("fp8wo-torchao") == Precision::fp8_weights);
  REQUIRE(precision_of("bf16") == Precision::bf16);
  REQUIRE(!precision_of("bf17"));
  REQUIRE(bytes_per_trained(OptimizerKind::adamw) == 10);
  REQUIRE(bytes_per_trained(OptimizerKind::adamw_fp32) == 16);
  REQUIRE(bytes_per_trained(OptimizerKind::adamw_8bit) == 6);
}

}  // namespace shape_cost_test
