#include "forecast/shape_cost.h"

#include <algorithm>

namespace stowage {
namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

// Width of queries and of keys, as parts of the block's width.
double attention_width(const GroupShape& shape) {
  const GroupWeights& weights = shape.weights;
  const double query = as_double(weights.query_width ? weights.query_width : shape.width);
  const double key = as_double(weights.key_value_width ? weights.key_value_width : shape.width);
  return (query + key) / 2 / as_double(shape.width);
}

}  // namespace

BlockCost& BlockCost::operator+=(const BlockCost& other) {
  input += other.input;
  attention_kept += other.attention_kept;
  ffn_kept += other.ffn_kept;
  scores_kept += other.scores_kept;
  projected += other.projected;
  linear_flops += other.linear_flops;
  attention_flops += other.attention_flops;
  projections += other.projections;
  return *this;
}

BlockCost operator*(double times, const BlockCost& cost) {
  return {times * cost.input,           times * cost.attention_kept, times * cost.ffn_kept,
          times * cost.scores_kept,     times * cost.projected,      times * cost.linear_flops,
          times * cost.attention_flops, times * cost.projections};
}

BlockCost block_cost(const Family& family, const GroupShape& shape, const TrainedShape& training) {
  const double width = as_double(shape.width), hidden = as_double(shape.ffn_width);
  const double batch = as_double(family.batch), tokens = as_double(shape.tokens());
  const double image = as_double(shape.image_tokens), number = as_double(family.activation_bytes);
  const double unit = batch * tokens * width * number;
  // All tokens once for each attention; further attentions over the image alone.
  const double attended =
      as_double(shape.attentions) + (tokens > 0 ? as_double(shape.image_attentions) * image / tokens : 0);
  const double ffn_matrices = shape.ffn_width > 0 ? (shape.ffn_gated ? 3 : 2) : 0;
  const double further = std::max(0.0, as_double(shape.attentions) - 1);
  const double part = attention_width(shape);

  BlockCost cost;
  cost.input = unit;
  // Keys and values are a quarter of what is kept; most code repeats them to the width of the queries.
  cost.attention_kept = unit * attended * (1 + part) / 2;
  cost.ffn_kept = batch * tokens * hidden * number * (shape.ffn_gated ? 3 : 1);
  // Query, key, value and output take an input each; of a further attention, over text, two are short.
  cost.projected = unit * (4 * attended - 2 * further + (ffn_matrices > 0 ? ffn_matrices - 1 : 0)) +
                   batch * tokens * hidden * number;
  cost.linear_flops =
      2 * batch * tokens * (4 * attended * width * width * part + ffn_matrices * width * hidden);
  // Each attention but the first is over text or over the image again: one over all tokens counts.
  const double all_pairs = shape.attentions > 0 ? tokens * tokens : 0;
  const double image_pairs = as_double(shape.image_attentions) * image * image;
  const double query = as_double(shape.weights.query_width ? shape.weights.query_width : shape.width);
  cost.attention_flops = 4 * batch * (all_pairs + image_pairs) * query;
  if (!training.flash_attention)
    cost.scores_kept = 2 * batch * number * as_double(shape.weights.heads) * (all_pairs + image_pairs);
  cost.projections = as_double(shape.weights.streams) * (4 * (attended > 0 ? 1 : 0) + ffn_matrices) +
                     4 * (attended > 1 ? attended - 1 : 0);
  if (shape.weights.projections) cost.projections = as_double(*shape.weights.projections);
  return cost;
}

double trained_in(const GroupShape& shape, const Recipe& recipe) {
  const double width = as_double(shape.width), hidden = as_double(shape.ffn_width);
  const GroupWeights& weights = shape.weights;
  const double query = as_double(weights.query_width ? weights.query_width : shape.width);
  const double key = as_double(weights.key_value_width ? weights.key_value_width : shape.width);
  const double attentions = as_double(shape.attentions + shape.image_attentions) +
                            (shape.attentions > 0 ? as_double(weights.streams - 1) : 0);
  switch (recipe.adapter) {
    case AdapterKind::full:
      return as_double(parameters_of(shape));
    case AdapterKind::lora:
      // Beside query and output, and beside key and value: rank x (in + out) of each.
      return attentions * as_double(recipe.rank) * 2 * ((width + query) + (width + key));
    case AdapterKind::lokr: {
      const auto smaller = [](double matrix, std::int64_t factor) {
        return factor > 0 ? matrix / as_double(factor * factor) : 0;
      };
      const double ffn = as_double(weights.streams) * (shape.ffn_gated ? 3 : 2) * width * hidden;
      return smaller(attentions * 2 * (query + key) * width, recipe.attention_factor) +
             smaller(ffn, recipe.ffn_factor);
    }
  }
  return 0;
}

FamilyCost family_cost(const Family& family, const TrainedShape& training) {
  FamilyCost all;
  const auto kept = [](const BlockCost& cost) { return cost.attention_kept + cost.ffn_kept; };
  for (const BlockGroup& group : family.groups) {
    const BlockCost cost = block_cost(family, group.shape, training);
    const double blocks = as_double(group.blocks);
    all.blocks += blocks * cost;
    all.count += blocks;
    all.block_weights += blocks * as_double(parameters_of(group.shape));
    all.trained += blocks * trained_in(group.shape, training.recipe);
    if (kept(cost) > kept(all.largest)) all.largest = cost;
  }
  for (const BlockGroup& group : family.outside) {
    all.outside += as_double(group.blocks) * block_cost(family, group.shape, training);
    all.other_weights += as_double(group.blocks * parameters_of(group.shape));
  }
  all.other_weights += as_double(family.facts.other_parameters);
  // Where the total is known, what the blocks do not hold is elsewhere.
  if (family.facts.parameters > 0)
    all.other_weights = std::max(0.0, as_double(family.facts.parameters) - all.block_weights);
  if (training.recipe.adapter == AdapterKind::full) all.trained = all.block_weights + all.other_weights;
  if (family.facts.vocabulary > 0 && !family.groups.empty()) {
    constexpr double bytes_a_logit = 2 + 4 + 4;
    all.epilogue = as_double(family.batch * family.groups.back().shape.tokens() * family.facts.vocabulary) *
                   bytes_a_logit;
  }
  return all;
}

}  // namespace stowage
