#include "tuner/dialects/simpletuner_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "traces/json.h"
#include "traces/json_text.h"
#include "tuner/dialects/simpletuner.h"

namespace stowage {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> variables = {{
    {"gradient_checkpointing", "USE_GRADIENT_CHECKPOINTING"},
    {"gradient_checkpointing_offload_attention", "GRADIENT_CHECKPOINTING_OFFLOAD_ATTENTION"},
    {"gradient_checkpointing_offload_prefetch", "GRADIENT_CHECKPOINTING_OFFLOAD_PREFETCH"},
    {"gradient_checkpointing_offload_pin_memory_max_buckets",
     "GRADIENT_CHECKPOINTING_OFFLOAD_PIN_MEMORY_MAX_BUCKETS"},
    {"gradient_checkpointing_segment_stride", "GRADIENT_CHECKPOINTING_SEGMENT_STRIDE"},
}};

std::string bare(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::string json_of(const OptionValue& value) {
  return std::holds_alternative<std::string>(value) ? '"' + std::get<std::string>(value) + '"' : bare(value);
}

std::string flag_of(const std::string& key, const OptionValue& value) {
  return "--" + key + "=" + bare(value);
}

// The member's key as the configuration spells it.
std::optional<std::string> spelled(const JsonNode& config, std::string_view key) {
  for (const std::string& spelling : {std::string(key), "--" + std::string(key)})
    if (config.find(spelling)) return spelling;
  return {};
}

OptionValue value_of(const JsonNode& node) {
  if (node.is_integer()) return node.integer();
  if (node.is_string()) return node.string();
  return node.boolean();
}

// Whether a switch is off, or a number 0: to leave it out would say the same.
bool says_nothing(const JsonNode& node) {
  if (node.is_null()) return true;
  const OptionValue value = value_of(node);
  const std::string text = bare(value);
  return text == "false" || text == "0" || text.empty() || text == "None";
}

bool prefixed(const JsonNode& config) {
  const std::vector<std::string> keys = config.keys();
  return std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return key.starts_with("--"); });
}

}  // namespace

Options simpletuner_options(const std::string& config) {
  const JsonNode object = JsonNode::parse(config);
  Options options;
  for (std::string_view key : SimpleTuner::keys()) {
    const std::optional<std::string> spelling = spelled(object, key);
    if (!spelling) continue;
    const JsonNode node = object.at(*spelling);
    if (!node.is_null()) options.emplace(key, value_of(node));
  }
  return options;
}

std::string simpletuner_family_of(const std::string& config) {
  const JsonNode object = JsonNode::parse(config);
  const std::optional<std::string> spelling = spelled(object, "model_family");
  return spelling ? object.at(*spelling).string() : "";
}

std::string simpletuner_rewritten(const std::string& config, const Options& options) {
  const JsonNode object = JsonNode::parse(config);
  JsonObjectText text(config);
  for (std::string_view key : SimpleTuner::keys()) {
    const auto wanted = options.find(std::string(key));
    const std::optional<std::string> spelling = spelled(object, key);
    if (wanted != options.end())
      text.set(spelling.value_or((prefixed(object) ? "--" : "") + wanted->first), json_of(wanted->second));
    else if (spelling && !says_nothing(object.at(*spelling)))
      text.erase(*spelling);
  }
  return text.text();
}

std::string simpletuner_json(const Options& options) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [key, value] : options) json.key(key).raw(json_of(value));
  return json.end_object().text();
}

std::string simpletuner_flags(const Options& options) {
  std::string text;
  for (const auto& [key, value] : options) text += (text.empty() ? "" : " ") + flag_of(key, value);
  return text;
}

std::string simpletuner_env(const Options& options) {
  std::string lines, extra;
  for (const auto& [key, value] : options) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const auto& variable) { return variable.first == key; });
    if (found != variables.end())
      lines += std::string(found->second) + "=" + bare(value) + "\n";
    else
      extra += (extra.empty() ? "" : " ") + flag_of(key, value);
  }
  return lines + (extra.empty() ? "" : "TRAINER_EXTRA_ARGS=\"" + extra + "\"\n");
}

}  // namespace stowage
