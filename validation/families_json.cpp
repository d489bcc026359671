#include <set>

#include "plan/names.h"
#include "traces/file.h"
#include "traces/json.h"
#include "validation/families.h"

namespace stowage {
namespace {

// Generous, and small enough that no product of them passes 63 bits.
constexpr std::int64_t most_blocks = 1'000, most_width = 1 << 17, most_tokens = 1 << 22, most_batch = 1 << 8;
constexpr std::int64_t most_attentions = 4, most_number_bytes = 8;
constexpr std::int64_t most_parameters = 1'000'000'000'000, most_pixels = 1 << 16, most_rank = 1 << 14;
constexpr std::array<std::string_view, 3> adapter_names{"full", "lora", "lokr"};
constexpr std::array<std::string_view, 6> optimizer_names{"adamw", "adamw-fp32", "adamw-8bit",
                                                          "lion",  "adafactor",  "sgd"};

std::int64_t integer_or(const JsonNode& node, std::string_view key, std::int64_t otherwise,
                        std::int64_t least, std::int64_t most) {
  const auto value = node.find(key);
  return value ? value->integer(least, most) : otherwise;
}

bool flag_of(const JsonNode& node, std::string_view key) {
  const auto value = node.find(key);
  return value && value->boolean();
}

GroupWeights weights_of(const JsonNode& node, std::int64_t width) {
  constexpr double most_modulation = 64;
  GroupWeights weights;
  weights.heads = integer_or(node, "heads", 1, 1, most_width);
  weights.query_width = integer_or(node, "query_width", width, 1, most_width);
  weights.key_value_width = integer_or(node, "key_value_width", weights.query_width, 1, most_width);
  weights.streams = integer_or(node, "streams", 1, 1, 2);
  if (const auto value = node.find("modulation")) weights.modulation = value->number(0, most_modulation);
  constexpr std::int64_t most_projections = 1000;
  if (const auto value = node.find("projections")) weights.projections = value->integer(1, most_projections);
  if (const auto value = node.find("parameters")) weights.parameters = value->integer(1, most_parameters);
  return weights;
}

BlockGroup group_of(const JsonNode& node) {
  node.allow({"name", "blocks", "width", "image_tokens", "text_tokens", "attentions", "image_attentions",
              "ffn_width", "ffn_gated", "checkpointing", "output_read_later", "heads", "query_width",
              "key_value_width", "streams", "modulation", "parameters", "projections"});
  BlockGroup group;
  group.name = node.at("name").string();
  group.blocks = node.at("blocks").integer(1, most_blocks);
  group.shape.width = node.at("width").integer(1, most_width);
  group.shape.image_tokens = integer_or(node, "image_tokens", 0, 0, most_tokens);
  group.shape.text_tokens = integer_or(node, "text_tokens", 0, 0, most_tokens);
  if (group.shape.tokens() == 0) node.refuse("image_tokens or text_tokens above 0");
  group.shape.attentions = node.at("attentions").integer(0, most_attentions);
  group.shape.image_attentions = integer_or(node, "image_attentions", 0, 0, most_attentions);
  group.shape.ffn_width = node.at("ffn_width").integer(0, most_width);
  group.shape.ffn_gated = flag_of(node, "ffn_gated");
  group.shape.weights = weights_of(node, group.shape.width);
  group.output_read_later = flag_of(node, "output_read_later");
  constexpr std::array<std::string_view, 2> checkpointing{"chosen", "always"};
  if (const auto value = node.find("checkpointing"))
    group.always_checkpointed = value->choice(checkpointing) == 1;
  return group;
}

std::vector<BlockGroup> groups_of(const JsonNode& node, std::string_view key) {
  std::vector<BlockGroup> groups;
  const auto list = node.find(key);
  if (!list) return groups;
  for (const JsonNode& item : list->items()) groups.push_back(group_of(item));
  return groups;
}

std::string text_or_empty(const JsonNode& node, std::string_view key) {
  const auto value = node.find(key);
  return value ? value->string() : "";
}

FamilyFacts facts_of(const JsonNode& node) {
  FamilyFacts facts;
  facts.id = text_or_empty(node, "id");
  facts.model = text_or_empty(node, "model");
  facts.trainer_family = text_or_empty(node, "trainer_family");
  facts.implementation = text_or_empty(node, "implementation");
  facts.parameters = integer_or(node, "parameters", 0, 1, most_parameters);
  facts.other_parameters = integer_or(node, "other_parameters", 0, 0, most_parameters);
  text_or_empty(node, "other_parameters_are");  // for people
  facts.vocabulary = integer_or(node, "vocabulary", 0, 1, most_tokens);
  return facts;
}

std::optional<Sampling> sampling_of(const JsonNode& node) {
  if (!node.find("pixels_per_token")) return std::nullopt;
  return Sampling{node.at("pixels_per_token").integer(1, most_pixels),
                  integer_or(node, "frames_per_token", 1, 1, most_pixels),
                  node.at("resolution").integer(1, most_pixels),
                  integer_or(node, "frames", 1, 1, most_pixels)};
}

Recipe recipe_of(const JsonNode& node) {
  Recipe recipe;
  const auto training = node.find("training");
  if (!training) return recipe;
  training->allow(
      {"adapter", "rank", "attention_factor", "ffn_factor", "optimizer", "streamed_weights", "compiled"});
  if (const auto adapter = training->find("adapter"))
    recipe.adapter = static_cast<AdapterKind>(adapter->choice(adapter_names));
  recipe.rank = integer_or(*training, "rank", recipe.rank, 1, most_rank);
  recipe.attention_factor = integer_or(*training, "attention_factor", 0, 0, most_rank);
  recipe.ffn_factor = integer_or(*training, "ffn_factor", 0, 0, most_rank);
  if (const auto optimizer = training->find("optimizer"))
    recipe.optimizer = static_cast<OptimizerKind>(optimizer->choice(optimizer_names));
  recipe.streamed_weights = flag_of(*training, "streamed_weights");
  recipe.compiled = flag_of(*training, "compiled");
  return recipe;
}

Family family_of(const JsonNode& node) {
  node.allow({"family",
              "model",
              "batch",
              "activation_bytes",
              "segmenting",
              "segments_cross_groups",
              "interleaved",
              "groups",
              "outside",
              "id",
              "parameters",
              "other_parameters",
              "other_parameters_are",
              "vocabulary",
              "implementation",
              "trainer_family",
              "pixels_per_token",
              "frames_per_token",
              "resolution",
              "frames",
              "training"});
  Family family;
  family.name = node.at("family").string();
  family.facts = facts_of(node);
  family.sampling = sampling_of(node);
  family.recipe = recipe_of(node);
  family.batch = integer_or(node, "batch", 1, 1, most_batch);
  family.activation_bytes = integer_or(node, "activation_bytes", 2, 1, most_number_bytes);
  family.segments_cross_groups = flag_of(node, "segments_cross_groups");
  family.interleaved = flag_of(node, "interleaved");
  family.groups = groups_of(node, "groups");
  family.outside = groups_of(node, "outside");
  const JsonNode segmenting = node.at("segmenting");
  if (segmenting.is_null()) return family;
  family.segmenting = static_cast<Segmenting>(segmenting.choice(segmenting_names));
  const JsonNode groups = node.at("groups");
  if (family.groups.empty()) groups.refuse("at least one group");
  for (const BlockGroup& group : family.groups)
    if (family.interleaved && group.blocks != family.groups.front().blocks)
      groups.refuse("interleaved groups of as many blocks each");
  return family;
}

}  // namespace

std::vector<Family> parse_families(const std::string& text) {
  const JsonNode root = JsonNode::parse(text);
  root.expect_format("stowage.families", 1);
  root.allow({"format", "version", "source", "families"});
  root.at("source").string();
  std::vector<Family> families;
  std::set<std::string> names;
  for (const JsonNode& item : root.at("families").items()) {
    families.push_back(family_of(item));
    if (!names.insert(families.back().name).second) item.at("family").refuse("each family once");
    const std::string& id = families.back().facts.id;
    if (!id.empty() && !names.insert(id).second) item.at("id").refuse("each name once");
  }
  return families;
}

std::vector<Family> read_families(const std::string& file) {
  return parse_file(file, parse_families);
}

}  // namespace stowage
