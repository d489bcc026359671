// A parsed JSON document as plain data. Internal to traces: others see it through JsonNode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stowage {

struct JsonValue;
struct JsonMember;

// A number with a point or an exponent, or an integer beyond 64 bits; `text` as in the file.
struct JsonReal {
  double number;
  std::string text;
};

using JsonArray = std::vector<JsonValue>;

struct JsonObject {
  std::vector<JsonMember> members;    // in the order of the file
  std::vector<std::uint32_t> by_key;  // positions in `members`, sorted by key

  // Null where there is none. Cost: logarithmic.
  const JsonValue* find(std::string_view key) const;
};

struct JsonValue {
  std::variant<std::monostate, bool, std::int64_t, JsonReal, std::string, JsonArray, JsonObject> data;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

// The first characters of a text, for messages; whole UTF-8 sequences, "..." where something is missing.
std::string shortened(std::string_view text);

// `path` extended by a key, which is shortened, or by a position.
std::string join_key(const std::string& path, std::string_view key);
std::string join_index(const std::string& path, std::size_t index);

// Throws InputError as JsonNode::parse() does. Cost: linear but for sorting the keys of each object.
JsonValue parse_json_tree(const std::string& text);

}  // namespace stowage
