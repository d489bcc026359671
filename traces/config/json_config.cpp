#include <limits>

#include "traces/config/config_text.h"
#include "traces/json.h"
#include "traces/json_text.h"

namespace stowage {
namespace {

std::string json_of(const ConfigValue& value) {
  const std::string bare = bare_text(value);
  return std::holds_alternative<std::string>(value) ? quoted_word(bare) : bare;
}

// Before the first dot, and after it.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::optional<JsonNode> at_path(JsonNode node, std::string_view path) {
  const auto [key, rest] = split(path);
  const std::optional<JsonNode> found = node.find_value(key);
  if (!found || rest.empty()) return found;
  return at_path(*found, rest);
}

// An object with one value, however deep, as it is written `depth` deep.
std::string new_object(std::string_view path, const ConfigValue& value, std::size_t depth) {
  const auto [key, rest] = split(path);
  const std::string inner = rest.empty() ? json_of(value) : new_object(rest, value, depth + 1);
  const std::string outdent(2 * depth, ' ');
  return "{\n" + outdent + "  " + quoted_word(std::string(key)) + ": " + inner + "\n" + outdent + "}";
}

void set_member(JsonObjectText& object, std::string_view path, const ConfigValue& value, std::size_t depth) {
  const auto [key, rest] = split(path);
  if (rest.empty()) return object.set(key, json_of(value));
  const std::optional<std::string> member = object.member(key);
  if (!member) return object.set(key, new_object(rest, value, depth + 1));
  JsonObjectText inner(*member);
  set_member(inner, rest, value, depth + 1);
  object.set(key, inner.text());
}

void erase_member(JsonObjectText& object, std::string_view path) {
  const auto [key, rest] = split(path);
  if (rest.empty()) return object.erase(key);
  const std::optional<std::string> member = object.member(key);
  if (!member || member->front() != '{') return;
  JsonObjectText inner(*member);
  erase_member(inner, rest);
  object.set(key, inner.text());
}

class JsonConfig final : public ConfigText {
 public:
  explicit JsonConfig(std::string text) : object_(std::move(text)) {}

  std::optional<ConfigValue> value(std::string_view path) const override {
    const std::optional<JsonNode> node = at_path(JsonNode::parse(object_.text()), path);
    if (!node) return {};
    if (node->is_integer()) return node->integer();
    if (node->is_number())
      return node->number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
    if (node->is_string()) return node->string();
    return node->boolean();
  }
  void put(std::string_view path, const ConfigValue& value) override { set_member(object_, path, value, 0); }
  void drop(std::string_view path) override { erase_member(object_, path); }
  std::string text() const override { return object_.text(); }

 private:
  JsonObjectText object_;
};

}  // namespace

std::unique_ptr<ConfigText> json_config(std::string text) {
  return std::make_unique<JsonConfig>(text.empty() ? "{}" : std::move(text));
}

}  // namespace stowage
