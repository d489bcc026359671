#include "traces/file.h"
#include "traces/journal.h"
#include "traces/json.h"

namespace stowage {
namespace {

constexpr std::int64_t version = 1;

// Reads entries and follows which buffers are alive.
class EntryReader {
 public:
  EntryReader(std::size_t entries, std::size_t streams) : alive_(entries), streams_(streams) {}

  JournalEntry read(const JsonNode& node) {
    node.allow({"at_ns", "allocate", "free", "bytes", "stream"});
    JournalEntry entry;
    const JsonNode at = node.at("at_ns");
    entry.at = at.nanos();
    if (entry.at < now_) at.refuse("ascending times");
    now_ = entry.at;
    const auto freed = node.find("free");
    entry.allocates = !freed;
    const JsonNode buffer = freed ? *freed : node.at("allocate");
    if (freed && node.find("allocate")) freed->refuse("either \"allocate\" or \"free\"");
    if (freed && node.find("bytes")) node.at("bytes").refuse("no size where a buffer is freed");
    entry.buffer = static_cast<std::uint32_t>(buffer.integer(0, last(alive_.size())));
    if (alive_[entry.buffer] == entry.allocates)
      buffer.refuse(freed ? "a buffer that is alive" : "a buffer that is not alive");
    alive_[entry.buffer] = entry.allocates;
    if (!freed) entry.bytes = node.at("bytes").bytes();
    if (const auto stream = node.find("stream"))
      entry.stream = static_cast<std::uint32_t>(stream->integer(0, last(streams_)));
    return entry;
  }

 private:
  static std::int64_t last(std::size_t count) { return static_cast<std::int64_t>(count) - 1; }

  std::vector<bool> alive_;
  std::size_t streams_;
  Nanos now_;
};

Journal read(const JsonNode& root) {
  root.expect_format("stowage.journal", version);
  root.allow({"format", "version", "name", "streams", "entries"});
  Journal journal;
  if (const auto name = root.find("name")) journal.name = name->string();
  const JsonNode streams = root.at("streams");
  for (const JsonNode& stream : streams.items()) journal.streams.push_back(stream.string());
  if (journal.streams.empty()) streams.refuse("at least one stream");
  const std::vector<JsonNode> entries = root.at("entries").items();
  EntryReader reader(entries.size(), journal.streams.size());
  for (const JsonNode& entry : entries) journal.entries.push_back(reader.read(entry));
  return journal;
}

void write(JsonWriter& json, const JournalEntry& entry) {
  json.begin_row().field("at_ns", entry.at).field(entry.allocates ? "allocate" : "free", entry.buffer);
  if (entry.allocates) json.field("bytes", entry.bytes);
  if (entry.stream > 0) json.field("stream", entry.stream);
  json.end_object();
}

}  // namespace

Journal parse_journal(const std::string& text) {
  return read(JsonNode::parse(text));
}

Journal read_journal(const std::string& file) {
  return parse_file(file, parse_journal);
}

std::string to_json(const Journal& journal) {
  JsonWriter json;
  json.begin_object().field("format", "stowage.journal").field("version", version);
  json.field("name", journal.name).key("streams").begin_array();
  for (const std::string& stream : journal.streams) json.value(stream);
  json.end_array().key("entries").begin_array();
  for (const JournalEntry& entry : journal.entries) write(json, entry);
  return json.end_array().end_object().text();
}

}  // namespace stowage
