#include "runtime/models/transformer_config.h"

#include <string_view>

#include "traces/file.h"
#include "traces/json.h"

namespace stowage {
namespace {

// Far above what a step on any one device can hold, far below what would overflow a size.
constexpr std::int64_t most_layers = 4096, most_width = 65536, most_context = 1 << 20, most_batch = 65536;
constexpr std::int64_t most_multiple = 64;

constexpr std::string_view trainings[] = {"full", "lora"};

std::optional<LoraConfig> parse_lora(const JsonNode& node, std::int64_t width) {
  const auto training = node.find("training");
  const auto rank = node.find("lora_rank");
  const auto alpha = node.find("lora_alpha");
  if (!training || training->choice(trainings) == 0) {
    for (const auto& stray : {rank, alpha})
      if (stray) stray->refuse("no such key unless \"training\" is \"lora\"");
    return std::nullopt;
  }
  LoraConfig lora;
  if (rank) lora.rank = rank->integer(1, width);
  if (alpha) lora.alpha = alpha->number(0, 1e6);
  return lora;
}

}  // namespace

TransformerConfig parse_transformer(const std::string& text) {
  const JsonNode node = JsonNode::parse(text);
  node.expect_format("stowage.model", 1);
  node.allow({"format", "version", "layers", "width", "heads", "context", "batch", "dropout", "ffn_multiple",
              "training", "lora_rank", "lora_alpha"});
  TransformerConfig config;
  config.layers = node.at("layers").integer(1, most_layers);
  config.width = node.at("width").integer(1, most_width);
  config.heads = node.at("heads").integer(1, config.width);
  if (config.width % config.heads != 0)
    node.at("heads").refuse("a divisor of the width, " + std::to_string(config.width));
  config.context = node.at("context").integer(1, most_context);
  config.batch = node.at("batch").integer(1, most_batch);
  if (const auto dropout = node.find("dropout")) config.dropout = dropout->number(0, 0.99);
  if (const auto multiple = node.find("ffn_multiple"))
    config.ffn_multiple = multiple->integer(1, most_multiple);
  config.lora = parse_lora(node, config.width);
  return config;
}

TransformerConfig read_transformer(const std::string& file) {
  return parse_file(file, parse_transformer);
}

std::string name_of(const TransformerConfig& config) {
  std::string name = "transformer " + std::to_string(config.layers) + "x" + std::to_string(config.width);
  if (config.lora) name += " lora " + std::to_string(config.lora->rank);
  return name;
}

}  // namespace stowage
