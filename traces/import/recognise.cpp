#include "traces/import/recognise.h"

#include "traces/import/characters.h"
#include "traces/import/json_scan.h"

namespace stowage {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// Walks the keys at the top of an object as far as it is there and makes sense.
std::optional<RecordingFormat> by_keys(std::string_view object) {
  const std::string padded = std::string(object) + std::string(16, '\0');
  JsonScan scan(padded.data(), padded.data() + object.size(), false, JsonScan::Mode::strict);
  std::string_view key;
  JsonText value;
  if (!scan.take('{')) return std::nullopt;
  for (bool first = true; scan.another('}', first); first = false) {
    if (!scan.key(key)) break;
    if (key == "traceEvents") return RecordingFormat::kineto;
    if (key == "nodes") return RecordingFormat::execution_trace;
    if (!scan.value(value, JsonScan::Place::member)) break;
  }
  return std::nullopt;
}

// What a damaged or very long head gives away.
std::optional<RecordingFormat> by_words(std::string_view object) {
  for (const char* word : {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"ph\""}) {
    if (contains(object, word)) return RecordingFormat::kineto;
  }
  if (contains(object, "\"nodes\"") && contains(object, "\"schema\""))
    return RecordingFormat::execution_trace;
  return std::nullopt;
}

std::optional<RecordingFormat> of_array(std::string_view array) {
  const std::string_view inside = without_spaces(array.substr(1));
  if (inside.starts_with('[')) return RecordingFormat::memory_timeline;
  if (inside.starts_with('{') && contains(inside, "\"ph\"")) return RecordingFormat::kineto;
  return std::nullopt;
}

}  // namespace

const char* name_of(RecordingFormat format) {
  static constexpr const char* names[] = {"kineto", "memory_snapshot", "memory_timeline", "execution_trace"};
  return names[static_cast<int>(format)];
}

std::optional<RecordingFormat> recognise(std::string_view beginning) {
  if (beginning.size() >= 2 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5) {
    return RecordingFormat::memory_snapshot;
  }
  const std::string_view text = without_spaces(beginning);
  if (text.starts_with('[')) return of_array(text);
  if (!text.starts_with('{')) return std::nullopt;
  const std::optional<RecordingFormat> format = by_keys(text);
  return format ? format : by_words(text);
}

std::string_view other_content(std::string_view beginning) {
  if (without_spaces(beginning).empty()) return "an empty file";
  if (beginning.starts_with("SQLite format 3")) return "an SQLite database";
  if (beginning.starts_with("PK\x03\x04")) return "a zip archive: unpack it first";
  if (beginning.starts_with("\x28\xb5\x2f\xfd")) return "Zstandard data: unpack it first";
  if (beginning.size() > 262 && beginning.substr(257, 5) == "ustar") return "a tar archive: unpack it first";
  if (without_spaces(beginning).starts_with('<'))
    return "an HTML page: a memory timeline's figures are in what is exported as x.raw.json.gz or x.json";
  if (beginning[0] == '\x80') return "a pickle of a protocol other than 2 to 5";
  return "something else";
}

}  // namespace stowage
