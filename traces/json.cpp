#include "traces/json.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "traces/error.h"
#include "traces/json_tree.h"

namespace stowage {
namespace {

std::string in_quotes(std::string_view text) {
  return '"' + shortened(text) + '"';
}

std::string shown(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// What a value is, to say that it is not what was expected.
struct Describe {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(const JsonReal& real) const { return shortened(real.text); }
  std::string operator()(const std::string& text) const { return in_quotes(text); }
  std::string operator()(const JsonArray&) const { return "an array"; }
  std::string operator()(const JsonObject&) const { return "an object"; }
};

const JsonValue& as_value(const void* value) {
  return *static_cast<const JsonValue*>(value);
}

template <class Kind>
const Kind& get(const JsonNode& node, const void* value, const char* expected) {
  const JsonValue& json = as_value(value);
  if (const Kind* found = std::get_if<Kind>(&json.data)) return *found;
  node.refuse(std::string(expected) + ", not " + std::visit(Describe(), json.data));
}

const JsonObject& object(const JsonNode& node, const void* value) {
  return get<JsonObject>(node, value, "an object");
}

// Integers beyond 64 bits are told apart from fractions, since the remedy differs.
bool is_huge_integer(const JsonReal& real) {
  return real.text.find_first_of(".eE") == std::string::npos;
}

}  // namespace

struct JsonNode::Document {
  JsonValue root;
};

JsonNode::JsonNode(std::shared_ptr<const Document> document, const void* value, std::string path)
    : document_(std::move(document)), value_(value), path_(std::move(path)) {}

JsonNode JsonNode::parse(const std::string& text) {
  auto document = std::make_shared<const Document>(Document{parse_json_tree(text)});
  const JsonValue* root = &document->root;
  return {std::move(document), root, ""};
}

void JsonNode::refuse(const std::string& expected) const {
  throw InputError("", path_, "expected " + expected);
}

void JsonNode::allow(std::initializer_list<std::string_view> keys) const {
  for (const JsonMember& member : object(*this, value_).members)
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
      throw InputError("", join_key(path_, member.key), "unknown key");
}

std::vector<std::string> JsonNode::keys() const {
  std::vector<std::string> names;
  for (const JsonMember& member : object(*this, value_).members) names.push_back(member.key);
  return names;
}

JsonNode JsonNode::at(std::string_view key) const {
  if (auto found = find(key)) return *std::move(found);
  throw InputError("", join_key(path_, key), "the key is missing");
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const JsonValue* found = object(*this, value_).find(key);
  if (!found) return std::nullopt;
  return JsonNode(document_, found, join_key(path_, key));
}

std::optional<JsonNode> JsonNode::find_value(std::string_view key) const {
  const auto found = find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

void JsonNode::expect_format(std::string_view format, std::int64_t version) const {
  const JsonNode name = at("format");
  if (name.string() != format) name.refuse(in_quotes(format) + ", not " + in_quotes(name.string()));
  const JsonNode number = at("version");
  if (number.integer() != version)
    number.refuse("version " + std::to_string(version) + ", not " + std::to_string(number.integer()));
}

std::vector<JsonNode> JsonNode::items() const {
  const auto& array = get<JsonArray>(*this, value_, "an array");
  std::vector<JsonNode> nodes;
  nodes.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i)
    nodes.push_back({document_, &array[i], join_index(path_, i)});
  return nodes;
}

bool JsonNode::is_null() const {
  return std::holds_alternative<std::monostate>(as_value(value_).data);
}

bool JsonNode::is_string() const {
  return std::holds_alternative<std::string>(as_value(value_).data);
}

bool JsonNode::is_integer() const {
  const JsonReal* real = std::get_if<JsonReal>(&as_value(value_).data);
  return std::holds_alternative<std::int64_t>(as_value(value_).data) || (real && is_huge_integer(*real));
}

bool JsonNode::is_number() const {
  return std::holds_alternative<JsonReal>(as_value(value_).data) || is_integer();
}

bool JsonNode::boolean() const {
  return get<bool>(*this, value_, "true or false");
}

std::string JsonNode::string() const {
  return get<std::string>(*this, value_, "a string");
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  if (const JsonReal* real = std::get_if<JsonReal>(&as_value(value_).data)) {
    const bool negative = real->text.starts_with('-');
    if (is_huge_integer(*real)) refuse(negative ? "an integer above -2^63" : "an integer below 2^63");
    refuse("an integer, without point or exponent, not " + Describe()(*real));
  }
  const auto number = get<std::int64_t>(*this, value_, "an integer");
  if (number < least) refuse("at least " + std::to_string(least) + ", not " + std::to_string(number));
  if (number > most) refuse("at most " + std::to_string(most) + ", not " + std::to_string(number));
  return number;
}

double JsonNode::number(double least, double most) const {
  const JsonValue& value = as_value(value_);
  const JsonReal* real = std::get_if<JsonReal>(&value.data);
  const double number =
      real ? real->number : static_cast<double>(get<std::int64_t>(*this, value_, "a number"));
  if (number >= least && number <= most) return number;
  refuse("a number from " + shown(least) + " to " + shown(most) + ", not " +
         std::visit(Describe(), value.data));
}

std::size_t JsonNode::choice(std::span<const std::string_view> names) const {
  const std::string text = string();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  refuse("one of " + list + ", not " + in_quotes(text));
}

}  // namespace stowage
