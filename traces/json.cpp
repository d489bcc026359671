#include "traces/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "traces/error.h"

namespace stowage {
namespace {

using Value = nlohmann::ordered_json;

constexpr std::size_t deepest = 64;

// Builds the document and refuses what the library would take silently: a key given twice, and bottomless
// nesting.
class StrictBuilder : public nlohmann::detail::json_sax_dom_parser<Value> {
  using Base = nlohmann::detail::json_sax_dom_parser<Value>;

 public:
  explicit StrictBuilder(Value& root) : Base(root, true) {}

  bool start_object(std::size_t size) {
    descend();
    keys_.emplace_back();
    return Base::start_object(size);
  }
  bool end_object() {
    keys_.pop_back();
    --depth_;
    return Base::end_object();
  }
  bool start_array(std::size_t size) {
    descend();
    return Base::start_array(size);
  }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) throw InputError("", name, "the key is given twice in one object");
    return Base::key(name);
  }

 private:
  void descend() {
    if (++depth_ > deepest)
      throw InputError("", "", "nested deeper than " + std::to_string(deepest) + " levels");
  }

  std::vector<std::set<std::string>> keys_;
  std::size_t depth_ = 0;
};

std::string place_of(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  const auto line = std::count(text.begin(), end, '\n') + 1;
  const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return "line " + std::to_string(line) + ", column " +
         std::to_string(std::max<std::ptrdiff_t>(1, end - start));
}

std::string kind_of(const Value& value) {
  if (value.is_number_float()) return "a fractional number";
  if (value.is_number()) return "an integer";
  if (value.is_null()) return "null";
  return (value.is_array() || value.is_object() ? "an " : "a ") + std::string(value.type_name());
}

const Value& as_value(const void* value) {
  return *static_cast<const Value*>(value);
}

std::string json_text(std::string_view text) {
  return Value(text).dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace

struct JsonNode::Document {
  Value root;
};

JsonNode::JsonNode(std::shared_ptr<const Document> document, const void* value, std::string path)
    : document_(std::move(document)), value_(value), path_(std::move(path)) {}

JsonNode JsonNode::parse(const std::string& text) {
  auto document = std::make_shared<Document>();
  StrictBuilder builder(document->root);
  try {
    Value::sax_parse(text, &builder);
  } catch (const nlohmann::detail::parse_error& error) {
    const bool cut = error.byte > text.size();
    throw InputError("", "",
                     place_of(text, error.byte) + (cut ? ": the JSON ends too early" : ": not valid JSON"));
  } catch (const nlohmann::detail::exception&) {
    throw InputError("", "", "a number is too large");
  }
  const Value* root = &document->root;
  return {std::move(document), root, ""};
}

void JsonNode::refuse(const std::string& expected) const {
  throw InputError("", path_, "expected " + expected);
}

void JsonNode::allow(std::initializer_list<std::string_view> keys) const {
  for (const std::string& key : this->keys())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError("", path_.empty() ? key : path_ + "." + key, "unknown key");
}

std::vector<std::string> JsonNode::keys() const {
  const Value& value = as_value(value_);
  if (!value.is_object()) refuse("an object, not " + kind_of(value));
  std::vector<std::string> names;
  for (const auto& item : value.items()) names.push_back(item.key());
  return names;
}

JsonNode JsonNode::at(std::string_view key) const {
  if (auto found = find(key)) return *found;
  throw InputError("", path_.empty() ? std::string(key) : path_ + "." + std::string(key),
                   "the key is missing");
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const Value& value = as_value(value_);
  if (!value.is_object()) refuse("an object, not " + kind_of(value));
  const auto found = value.find(std::string(key));
  if (found == value.end()) return std::nullopt;
  return JsonNode(document_, &*found, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

void JsonNode::expect_format(std::string_view format, std::int64_t version) const {
  const JsonNode name = at("format");
  if (name.string() != format) name.refuse(json_text(format) + ", not " + json_text(name.string()));
  const JsonNode number = at("version");
  if (number.integer() != version)
    number.refuse("version " + std::to_string(version) + ", not " + std::to_string(number.integer()));
}

std::vector<JsonNode> JsonNode::items() const {
  const Value& value = as_value(value_);
  if (!value.is_array()) refuse("an array, not " + kind_of(value));
  std::vector<JsonNode> nodes;
  for (std::size_t i = 0; i < value.size(); ++i)
    nodes.push_back({document_, &value[i], path_ + "[" + std::to_string(i) + "]"});
  return nodes;
}

bool JsonNode::is_null() const {
  return as_value(value_).is_null();
}

bool JsonNode::is_string() const {
  return as_value(value_).is_string();
}

bool JsonNode::is_integer() const {
  return as_value(value_).is_number_integer();
}

bool JsonNode::boolean() const {
  const Value& value = as_value(value_);
  if (!value.is_boolean()) refuse("true or false, not " + kind_of(value));
  return value.get<bool>();
}

std::string JsonNode::string() const {
  const Value& value = as_value(value_);
  if (!value.is_string()) refuse("a string, not " + kind_of(value));
  return value.get<std::string>();
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  const Value& value = as_value(value_);
  // The library reads integers beyond 64 bits as fractions: told apart here, since the remedy differs.
  if (value.is_number_float() && std::abs(value.get<double>()) >= 9.2e18) refuse("an integer below 2^63");
  if (!value.is_number_integer()) refuse("an integer, not " + kind_of(value));
  const bool huge =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (huge) refuse("an integer below 2^63");
  const auto number = value.get<std::int64_t>();
  if (number < least) refuse("at least " + std::to_string(least) + ", not " + std::to_string(number));
  if (number > most) refuse("at most " + std::to_string(most) + ", not " + std::to_string(number));
  return number;
}

double JsonNode::number(double least, double most) const {
  const Value& value = as_value(value_);
  if (!value.is_number()) refuse("a number, not " + kind_of(value));
  const auto number = value.get<double>();
  if (!(number >= least && number <= most))
    refuse("a number from " + Value(least).dump() + " to " + Value(most).dump() + ", not " + value.dump());
  return number;
}

std::size_t JsonNode::choice(std::span<const std::string_view> names) const {
  const std::string text = string();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  refuse("one of " + list + ", not " + json_text(text));
}

// Text is written as it comes, since documents may be large; `open` tells what is being written.
struct JsonWriter::State {
  struct Level {
    bool object;
    bool empty = true;
    bool after_key = false;
    bool flat;  // on one line: a row, or an array that so far holds scalars only
  };
  std::string text;
  std::vector<Level> open;

  void indent() { text += "\n" + std::string(2 * open.size(), ' '); }
  void before_value(bool container);
  void close(bool object);
};

void JsonWriter::State::before_value(bool container) {
  if (open.empty()) {
    if (!text.empty()) throw DefectError("JSON: a second document");
    return;
  }
  Level& level = open.back();
  if (level.object) {
    if (!level.after_key) throw DefectError("JSON: a value without a key");
    level.after_key = false;
    return;
  }
  if (container) level.flat = false;
  if (!level.empty) text += level.flat ? ", " : ",";
  if (!level.flat) indent();
  level.empty = false;
}

void JsonWriter::State::close(bool object) {
  if (open.empty() || open.back().object != object || open.back().after_key)
    throw DefectError("JSON: closed wrongly");
  const Level level = open.back();
  open.pop_back();
  if (!level.empty && !level.flat) indent();
  text += object ? '}' : ']';
}

JsonWriter::JsonWriter() : state_(std::make_unique<State>()) {}
JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::begin_object() {
  state_->before_value(true);
  state_->open.push_back({true, true, false, false});
  state_->text += '{';
  return *this;
}

JsonWriter& JsonWriter::begin_row() {
  begin_object();
  state_->open.back().flat = true;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  state_->close(true);
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  state_->before_value(true);
  state_->open.push_back({false, true, false, true});
  state_->text += '[';
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  state_->close(false);
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (state_->open.empty() || !state_->open.back().object || state_->open.back().after_key)
    throw DefectError("JSON: a key out of place");
  State::Level& level = state_->open.back();
  if (!level.empty) state_->text += level.flat ? ", " : ",";
  if (!level.flat) state_->indent();
  state_->text += json_text(name) + ": ";
  level.empty = false;
  level.after_key = true;
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
  state_->before_value(false);
  state_->text += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  state_->before_value(false);
  state_->text += Value(number).dump();
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  state_->before_value(false);
  state_->text += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  state_->before_value(false);
  state_->text += json_text(text);
  return *this;
}

JsonWriter& JsonWriter::null() {
  state_->before_value(false);
  state_->text += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(const std::string& json) {
  state_->before_value(true);
  const std::string indent = "\n" + std::string(2 * state_->open.size(), ' ');
  const std::size_t end = json.find_last_not_of('\n');
  for (std::size_t i = 0; i <= end && i < json.size(); ++i) {
    if (json[i] == '\n')
      state_->text += indent;
    else
      state_->text += json[i];
  }
  return *this;
}

std::string JsonWriter::text() const {
  if (!state_->open.empty()) throw DefectError("JSON: not closed");
  return state_->text + "\n";
}

}  // namespace stowage
