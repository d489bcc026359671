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

std::int64_t integer_or(const JsonNode& node, std::string_view key, std::int64_t otherwise,
                        std::int64_t least, std::int64_t most) {
  const auto value = node.find(key);
  return value ? value->integer(least, most) : otherwise;
}

bool flag_of(const JsonNode& node, std::string_view key) {
  const auto value = node.find(key);
  return value && value->boolean();
}

BlockGroup group_of(const JsonNode& node) {
  node.allow({"name", "blocks", "width", "image_tokens", "text_tokens", "attentions", "image_attentions",
              "ffn_width", "ffn_gated", "checkpointing", "output_read_later"});
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
  group.output_read_later = flag_of(node, "output_read_later");
  constexpr std::array<std::string_view, 2> checkpointing{"chosen", "always"};
  if (const auto value = node.find("checkpointing"))
    group.always_checkpointed = value->choice(checkpointing) == 1;
  return group;
}

Family family_of(const JsonNode& node) {
  node.allow({"family", "model", "batch", "activation_bytes", "segmenting", "segments_cross_groups",
              "interleaved", "groups"});
  Family family;
  family.name = node.at("family").string();
  if (const auto model = node.find("model")) model->string();
  family.batch = integer_or(node, "batch", 1, 1, most_batch);
  family.activation_bytes = integer_or(node, "activation_bytes", 2, 1, most_number_bytes);
  family.segments_cross_groups = flag_of(node, "segments_cross_groups");
  family.interleaved = flag_of(node, "interleaved");
  const JsonNode segmenting = node.at("segmenting");
  if (segmenting.is_null()) return family;
  family.segmenting = static_cast<Segmenting>(segmenting.choice(segmenting_names));
  const JsonNode groups = node.at("groups");
  for (const JsonNode& item : groups.items()) family.groups.push_back(group_of(item));
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
  }
  return families;
}

std::vector<Family> read_families(const std::string& file) {
  return parse_file(file, parse_families);
}

}  // namespace stowage
