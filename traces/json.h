// Strict JSON: reading that knows where it is, and writing that keeps the order of keys.
//
// Other folders read and write their own formats through it; the JSON library stays behind it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/units.h"

namespace stowage {

// A value inside a parsed document, together with its path ("blocks[3].count"). Every accessor throws
// InputError with that path and what was expected. Cheap to copy; keeps the document alive.
class JsonNode {
 public:
  // Throws InputError: with line and column for malformed text, with its path for a key given twice, and for
  // nesting beyond 64.
  static JsonNode parse(const std::string& text);

  const std::string& path() const { return path_; }
  [[noreturn]] void refuse(const std::string& expected) const;

  // Objects. `allow` refuses any key that is not listed; null counts as present.
  void allow(std::initializer_list<std::string_view> keys) const;
  std::vector<std::string> keys() const;
  JsonNode at(std::string_view key) const;
  std::optional<JsonNode> find(std::string_view key) const;
  // As find(), where null means the same as no key.
  std::optional<JsonNode> find_value(std::string_view key) const;
  // Checks "format" and "version" at the top of a document.
  void expect_format(std::string_view format, std::int64_t version) const;

  // Arrays.
  std::vector<JsonNode> items() const;

  // Scalars.
  bool is_null() const;
  bool is_string() const;
  bool is_integer() const;
  bool is_number() const;
  bool boolean() const;
  std::string string() const;
  // 10.0 and 1e3 are no integers here.
  std::int64_t integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  double number(double least, double most) const;
  Nanos nanos() const { return {integer(0)}; }
  Bytes bytes() const { return {integer(0)}; }
  // The position of the string among `names`; refuses others and lists them.
  std::size_t choice(std::span<const std::string_view> names) const;

 private:
  struct Document;
  JsonNode(std::shared_ptr<const Document> document, const void* value, std::string path);

  std::shared_ptr<const Document> document_;
  const void* value_;
  std::string path_;
};

// Builds a JSON text, two spaces of indent, scalars of short arrays on one line. Misuse (a value without a
// key in an object) throws DefectError.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;

  JsonWriter& begin_object();
  JsonWriter& begin_row();  // an object on one line; ended by end_object()
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& integer(std::int64_t number);
  template <std::integral T>
  JsonWriter& value(T number) {
    return integer(static_cast<std::int64_t>(number));
  }
  JsonWriter& value(double number);  // shortest text that reads back the same; not finite is written as null
  JsonWriter& value(bool flag);
  JsonWriter& value(std::string_view text);  // invalid UTF-8 is replaced
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(Nanos nanos) { return value(nanos.value); }
  JsonWriter& value(Bytes bytes) { return value(bytes.value); }
  JsonWriter& null();
  // Splices a JSON text, as to_json() of a file format gives it.
  JsonWriter& raw(const std::string& json);
  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
