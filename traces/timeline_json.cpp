#include <array>

#include "traces/file.h"
#include "traces/json.h"
#include "traces/timeline.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

constexpr std::int64_t timeline_version = 1;

std::optional<std::uint32_t> read_index(const JsonNode& node, std::string_view key) {
  const auto found = node.find_value(key);
  if (!found) return std::nullopt;
  return static_cast<std::uint32_t>(found->integer(0, UINT32_MAX));
}

Nanos read_end(const JsonNode& node, Nanos begin) {
  return {node.at("end_ns").integer(begin.value)};
}

Span read_span(const JsonNode& node) {
  node.allow({"lane", "step", "block", "storage", "layer", "begin_ns", "end_ns", "bytes", "pageable"});
  Span span;
  span.lane = static_cast<Lane>(node.at("lane").choice(lane_names));
  span.kind = static_cast<StepKind>(node.at("step").choice(step_names));
  span.block = read_index(node, "block");
  span.storage = read_index(node, "storage");
  span.layer = read_index(node, "layer");
  span.begin = node.at("begin_ns").nanos();
  span.end = read_end(node, span.begin);
  if (const auto bytes = node.find("bytes")) span.bytes = bytes->bytes();
  if (const auto pageable = node.find("pageable")) span.pageable = pageable->boolean();
  return span;
}

std::vector<MemorySample> read_levels(const JsonNode& node) {
  std::vector<MemorySample> curve;
  for (const JsonNode& item : node.items()) {
    item.allow({"at_ns", "bytes"});
    const JsonNode at = item.at("at_ns");
    curve.push_back({at.nanos(), item.at("bytes").bytes()});
    if (curve.size() > 1 && curve.back().at <= curve[curve.size() - 2].at) at.refuse("ascending times");
  }
  return curve;
}

Stall read_stall(const JsonNode& node) {
  node.allow({"cause", "block", "begin_ns", "end_ns"});
  Stall stall;
  stall.cause = static_cast<StallCause>(node.at("cause").choice(stall_names));
  stall.block = read_index(node, "block");
  stall.begin = node.at("begin_ns").nanos();
  stall.end = read_end(node, stall.begin);
  return stall;
}

Timeline timeline_of(const JsonNode& root) {
  root.expect_format("stowage.timeline", timeline_version);
  root.allow({"format", "version", "source", "name", "step_ns", "compute_ns", "spans", "memory", "stalls",
              "counters"});
  Timeline timeline;
  static constexpr std::array<std::string_view, 2> sources = {"simulated", "measured"};
  timeline.source = sources[root.at("source").choice(sources)];
  timeline.name = root.at("name").string();
  timeline.step = root.at("step_ns").nanos();
  timeline.compute = {root.at("compute_ns").integer(0, timeline.step.value)};
  for (const JsonNode& item : root.at("spans").items()) timeline.spans.push_back(read_span(item));
  const JsonNode memory = root.at("memory");
  memory.allow({"device", "host", "allocated", "reserved", "disk"});
  timeline.memory.device = read_levels(memory.at("device"));
  timeline.memory.host = read_levels(memory.at("host"));
  if (const auto allocated = memory.find("allocated")) timeline.memory.allocated = read_levels(*allocated);
  if (const auto reserved = memory.find("reserved")) timeline.memory.reserved = read_levels(*reserved);
  if (const auto disk = memory.find("disk")) timeline.memory.disk = read_levels(*disk);
  for (const JsonNode& item : root.at("stalls").items()) timeline.stalls.push_back(read_stall(item));
  const JsonNode counters = root.at("counters");
  for (const std::string& name : counters.keys()) timeline.counters[name] = counters.at(name).integer();
  return timeline;
}

void write_index(JsonWriter& json, std::string_view key, const std::optional<std::uint32_t>& index) {
  json.key(key);
  index ? json.value(*index) : json.null();
}

void write(JsonWriter& json, const Span& span) {
  json.begin_row().field("lane", name_of(span.lane)).field("step", name_of(span.kind));
  write_index(json, "block", span.block);
  if (span.storage) json.field("storage", *span.storage);
  if (span.layer) json.field("layer", *span.layer);
  json.field("begin_ns", span.begin).field("end_ns", span.end).field("bytes", span.bytes);
  if (span.pageable) json.field("pageable", true);
  json.end_object();
}

void write(JsonWriter& json, const std::vector<MemorySample>& curve) {
  json.begin_array();
  for (const MemorySample& sample : curve)
    json.begin_row().field("at_ns", sample.at).field("bytes", sample.bytes).end_object();
  json.end_array();
}

void write(JsonWriter& json, const Stall& stall) {
  json.begin_row().field("cause", name_of(stall.cause));
  write_index(json, "block", stall.block);
  json.field("begin_ns", stall.begin).field("end_ns", stall.end).end_object();
}

}  // namespace

Timeline parse_timeline(const std::string& text) {
  return timeline_of(JsonNode::parse(text));
}

Timeline read_timeline(const std::string& file) {
  return parse_file(file, parse_timeline);
}

std::string to_json(const Timeline& timeline) {
  JsonWriter json;
  json.begin_object().field("format", "stowage.timeline").field("version", timeline_version);
  json.field("source", timeline.source).field("name", timeline.name);
  json.field("step_ns", timeline.step).field("compute_ns", timeline.compute).key("spans").begin_array();
  for (const Span& span : timeline.spans) write(json, span);
  json.end_array().key("memory").begin_object().key("device");
  write(json, timeline.memory.device);
  json.key("host");
  write(json, timeline.memory.host);
  if (!timeline.memory.allocated.empty()) write(json.key("allocated"), timeline.memory.allocated);
  if (!timeline.memory.reserved.empty()) write(json.key("reserved"), timeline.memory.reserved);
  if (!timeline.memory.disk.empty()) write(json.key("disk"), timeline.memory.disk);
  json.end_object().key("stalls").begin_array();
  for (const Stall& stall : timeline.stalls) write(json, stall);
  json.end_array().key("counters").begin_object();
  for (const auto& [name, count] : timeline.counters) json.field(name, count);
  return json.end_object().end_object().text();
}

}  // namespace stowage
