#include "traces/json_tree.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t longest_shown = 60;

// "line 2, column 5" of the last of the first `read` bytes.
std::string place_of(const std::string& text, std::size_t read) {
  const std::size_t last = std::max<std::size_t>(1, std::min(read, text.size())) - 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(last), '\n') + 1;
  const std::size_t newline = last == 0 ? std::string::npos : text.rfind('\n', last - 1);
  const std::size_t column = newline == std::string::npos ? last + 1 : last - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// What the library says, without its codes, its own place and the bytes that it quotes.
std::string detail_of(const std::string& message) {
  const std::size_t dash = message.find(" - ");
  if (dash == std::string::npos) return "";
  const std::string detail = message.substr(dash + 3);
  return ": " + detail.substr(0, detail.find("; last read"));
}

// Takes the library's events and refuses what it would let pass: a key given twice, bottomless nesting.
class TreeBuilder {
 public:
  TreeBuilder(const std::string& text, JsonValue& root) : text_(text), root_(root) {}

  bool null() { return take({std::monostate()}); }
  bool boolean(bool flag) { return take({flag}); }
  bool number_integer(std::int64_t number) { return take({number}); }
  bool number_unsigned(std::uint64_t number) {
    if (number <= std::numeric_limits<std::int64_t>::max()) return take({static_cast<std::int64_t>(number)});
    return take({JsonReal{static_cast<double>(number), std::to_string(number)}});
  }
  bool number_float(double number, const std::string& text) { return take({JsonReal{number, text}}); }
  bool string(std::string& text) { return take({std::move(text)}); }
  bool binary(nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open({JsonObject()}); }
  bool start_array(std::size_t) { return open({JsonArray()}); }
  bool key(std::string& name) {
    std::get<JsonObject>(open_.back()->data).members.push_back({std::move(name), {}});
    return true;
  }
  bool end_object() {
    sort_keys(std::get<JsonObject>(open_.back()->data));
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t read, const std::string&, const nlohmann::json::exception& error) {
    std::string reason = "not valid JSON" + detail_of(error.what());
    if (read > text_.size()) reason = "the JSON ends too early";
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error)) reason = "a number is too large";
    throw InputError("", "", place_of(text_, read) + ": " + reason);
  }

 private:
  // A container's children are appended one at a time, so the addresses in `open_` stay valid.
  JsonValue& place(JsonValue value) {
    if (open_.empty()) return root_ = std::move(value);
    if (auto* array = std::get_if<JsonArray>(&open_.back()->data))
      return array->emplace_back(std::move(value));
    return std::get<JsonObject>(open_.back()->data).members.back().value = std::move(value);
  }
  bool take(JsonValue value) {
    place(std::move(value));
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() == deepest)
      throw InputError("", "", "nested deeper than " + std::to_string(deepest) + " levels");
    open_.push_back(&place(std::move(value)));
    return true;
  }
  void sort_keys(JsonObject& object) const;
  std::string path() const;

  const std::string& text_;
  JsonValue& root_;
  std::vector<JsonValue*> open_;
};

void TreeBuilder::sort_keys(JsonObject& object) const {
  const std::vector<JsonMember>& members = object.members;
  object.by_key.resize(members.size());
  std::iota(object.by_key.begin(), object.by_key.end(), 0);
  std::sort(object.by_key.begin(), object.by_key.end(),
            [&](std::uint32_t a, std::uint32_t b) { return members[a].key < members[b].key; });
  const auto twice =
      std::adjacent_find(object.by_key.begin(), object.by_key.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return members[a].key == members[b].key; });
  if (twice != object.by_key.end())
    throw InputError("", join_key(path(), members[*twice].key), "the key is given twice in one object");
}

// Of the innermost open container: each container above it is open at its last child.
std::string TreeBuilder::path() const {
  std::string path;
  for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
    const JsonArray* array = std::get_if<JsonArray>(&open_[i]->data);
    path = array ? join_index(path, array->size() - 1)
                 : join_key(path, std::get<JsonObject>(open_[i]->data).members.back().key);
  }
  return path;
}

}  // namespace

const JsonValue* JsonObject::find(std::string_view key) const {
  const auto found =
      std::lower_bound(by_key.begin(), by_key.end(), key,
                       [&](std::uint32_t at, std::string_view wanted) { return members[at].key < wanted; });
  return found != by_key.end() && members[*found].key == key ? &members[*found].value : nullptr;
}

std::string shortened(std::string_view text) {
  if (text.size() <= longest_shown) return std::string(text);
  std::size_t end = longest_shown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string join_key(const std::string& path, std::string_view key) {
  return path.empty() ? shortened(key) : path + "." + shortened(key);
}

std::string join_index(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

JsonValue parse_json_tree(const std::string& text) {
  // The library takes a zero byte for the end of the text and would let anything follow it.
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
    throw InputError("", "", place_of(text, zero + 1) + ": not valid JSON: a zero byte");
  JsonValue root;
  TreeBuilder builder(text, root);
  nlohmann::json::sax_parse(text, &builder);
  return root;
}

}  // namespace stowage
