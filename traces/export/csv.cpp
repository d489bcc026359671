#include "traces/export/csv.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace stowage {
namespace {

std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string cell(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : "";
}

struct Row {
  const char* kind;
  const char* lane;
  const char* what;
  std::optional<std::uint32_t> block, storage;
  Nanos begin, end;
  std::optional<Bytes> bytes;
};

class CsvTable {
 public:
  void add(std::size_t index, const Timeline& timeline) {
    front_ = std::to_string(index) + ',' + cell(timeline.source) + ',' + cell(timeline.name) + ',';
    for (const Span& span : timeline.spans)
      add({"span", name_of(span.lane), name_of(span.kind), span.block, span.storage, span.begin, span.end,
           span.bytes});
    for (const Stall& stall : timeline.stalls)
      add({"stall",
           name_of(Lane::compute),
           name_of(stall.cause),
           stall.block,
           {},
           stall.begin,
           stall.end,
           {}});
    add("device", timeline.memory.device, timeline.step);
    add("host", timeline.memory.host, timeline.step);
    add("disk", timeline.memory.disk, timeline.step);
  }

  std::string text() { return std::move(text_); }

 private:
  void add(const char* space, const std::vector<MemorySample>& curve, Nanos step) {
    for (std::size_t i = 0; i < curve.size(); ++i) {
      const Nanos end = i + 1 < curve.size() ? curve[i + 1].at : std::max(step, curve[i].at);
      add({"memory", space, "in_use", {}, {}, curve[i].at, end, curve[i].bytes});
    }
  }

  void add(const Row& row) {
    text_ += front_;
    for (const char* word : {row.kind, row.lane, row.what}) text_ += std::string(word) + ',';
    text_ += cell(row.block) + ',' + cell(row.storage) + ',';
    text_ += std::to_string(row.begin.value) + ',' + std::to_string(row.end.value) + ',';
    text_ += (row.bytes ? std::to_string(row.bytes->value) : "") + '\n';
  }

  std::string text_ = "timeline,source,name,kind,lane,what,block,storage,begin_ns,end_ns,bytes\n";
  std::string front_;
};

}  // namespace

std::string to_csv(const std::vector<Timeline>& timelines) {
  CsvTable table;
  for (std::size_t i = 0; i < timelines.size(); ++i) table.add(i, timelines[i]);
  return table.text();
}

}  // namespace stowage
