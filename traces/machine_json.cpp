#include <algorithm>
#include <array>

#include "traces/file.h"
#include "traces/json.h"
#include "traces/machine.h"

namespace stowage {
namespace {

constexpr std::int64_t machine_version = 1;
constexpr Bytes usual_device_margin{64 << 20};  // with which every reported case of it went well
constexpr std::array<std::string_view, 3> rounding_words = {"exact", "pow2", "slab"};
constexpr std::array<std::string_view, 2> arena_words = {"ideal", "caching"};

DeviceMemory read_device(const JsonNode& node) {
  node.allow({"memory_bytes", "reserved_bytes"});
  DeviceMemory device{node.at("memory_bytes").bytes(), {}};
  if (const auto reserved = node.find("reserved_bytes"))
    device.reserved = {reserved->integer(0, device.memory.value)};
  return device;
}

HostMemory read_host(const JsonNode& node) {
  node.allow({"memory_bytes", "pinned_limit_bytes", "pinned_rounding", "pin_ns", "pin_bytes_per_second",
              "pinned_counts_on_device", "pinned_device_margin_bytes"});
  HostMemory host;
  host.memory = node.at("memory_bytes").bytes();
  const auto limit = node.find("pinned_limit_bytes");
  host.pinned_limit = limit ? limit->bytes() : host.memory;
  if (const auto rounding = node.find("pinned_rounding"))
    host.pinned_rounding = static_cast<PinnedRounding>(rounding->choice(rounding_words));
  if (const auto each = node.find("pin_ns")) host.pinning.each = each->nanos();
  if (const auto rate = node.find("pin_bytes_per_second")) host.pinning.rate = Rate{rate->integer(1)};
  const auto counts = node.find("pinned_counts_on_device");
  if (counts && counts->boolean()) host.device_margin = usual_device_margin;
  if (const auto margin = node.find("pinned_device_margin_bytes")) {
    if (!host.device_margin) margin->refuse("pinned_counts_on_device beside it");
    host.device_margin = margin->bytes();
  }
  return host;
}

double read_share(const JsonNode& node) {
  const double share = node.number(0, 1);
  if (share == 0) node.refuse("more than 0");
  return share;
}

std::vector<CurvePoint> read_curve(const JsonNode& node) {
  std::vector<CurvePoint> curve;
  Nanos longest;
  for (const JsonNode& item : node.items()) {
    item.allow({"bytes", "bytes_per_second"});
    const std::int64_t before = curve.empty() ? 0 : curve.back().bytes.value;
    const JsonNode rate = item.at("bytes_per_second");
    curve.push_back({{item.at("bytes").integer(before + 1)}, {rate.integer(1)}});
    const Nanos time = curve.back().rate.time_for(curve.back().bytes);
    if (time < longest) rate.refuse("a larger copy to take no less time than a smaller one");
    longest = time;
  }
  return curve;
}

Link read_link(const JsonNode& node) {
  node.allow({"bytes_per_second", "latency_ns", "curve", "duplex"});
  Link link{{node.at("bytes_per_second").integer(1)}, {}};
  if (const auto latency = node.find("latency_ns")) link.latency = latency->nanos();
  if (const auto curve = node.find("curve")) link.curve = read_curve(*curve);
  if (const auto duplex = node.find("duplex")) link.duplex = read_share(*duplex);
  return link;
}

Links read_links(const JsonNode& node) {
  node.allow({"h2d", "d2h", "pageable_bytes_per_second", "duplex", "compute_slowdown"});
  Links links;
  links.h2d = read_link(node.at("h2d"));
  links.d2h = read_link(node.at("d2h"));
  const auto pageable = node.find("pageable_bytes_per_second");
  const std::int64_t third = std::max<std::int64_t>(1, links.h2d.rate.bytes_per_second / 3);
  links.pageable = {pageable ? pageable->integer(1) : third};
  if (const auto duplex = node.find("duplex")) links.duplex = read_share(*duplex);
  if (const auto slowdown = node.find("compute_slowdown")) {
    links.compute_slowdown = slowdown->number(0, 1);
    if (links.compute_slowdown == 1) slowdown->refuse("less than 1");
  }
  return links;
}

ArenaOptions read_arena_options(const JsonNode& node) {
  node.allow({"expandable_segments", "record_stream_lag_ns"});
  ArenaOptions options;
  if (const auto expandable = node.find("expandable_segments"))
    options.expandable_segments = expandable->boolean();
  if (const auto lag = node.find("record_stream_lag_ns")) options.record_stream_lag = lag->nanos();
  return options;
}

Ranks read_ranks(const JsonNode& node) {
  node.allow({"count", "host_bytes_per_second"});
  Ranks ranks;
  ranks.count = node.at("count").integer(1);
  if (const auto host = node.find("host_bytes_per_second")) ranks.host = Rate{host->integer(1)};
  return ranks;
}

Disk read_disk(const JsonNode& node) {
  node.allow({"capacity_bytes", "read", "write"});
  Disk disk{node.at("capacity_bytes").bytes(), read_link(node.at("read")), read_link(node.at("write"))};
  for (const char* way : {"read", "write"})
    if (const auto duplex = node.at(way).find("duplex"))
      duplex->refuse("nothing: reading and writing a disk do not slow each other");
  return disk;
}

Machine machine_of(const JsonNode& root) {
  root.expect_format("stowage.machine", machine_version);
  root.allow(
      {"format", "version", "name", "device", "host", "links", "arena", "arena_options", "ranks", "disk"});
  Machine machine;
  if (const auto name = root.find("name")) machine.name = name->string();
  machine.device = read_device(root.at("device"));
  machine.host = read_host(root.at("host"));
  machine.links = read_links(root.at("links"));
  if (const auto arena = root.find("arena"))
    machine.arena = static_cast<ArenaKind>(arena->choice(arena_words));
  if (const auto options = root.find("arena_options")) machine.arena_options = read_arena_options(*options);
  if (const auto ranks = root.find("ranks")) machine.ranks = read_ranks(*ranks);
  if (const auto disk = root.find("disk")) machine.disk = read_disk(*disk);
  return machine;
}

void write(JsonWriter& json, const HostMemory& host) {
  json.begin_row()
      .field("memory_bytes", host.memory)
      .field("pinned_limit_bytes", host.pinned_limit)
      .field("pinned_rounding", rounding_words[static_cast<int>(host.pinned_rounding)]);
  if (host.pinning.each != Nanos{}) json.field("pin_ns", host.pinning.each);
  if (host.pinning.rate) json.field("pin_bytes_per_second", host.pinning.rate->bytes_per_second);
  if (host.device_margin)
    json.field("pinned_counts_on_device", true).field("pinned_device_margin_bytes", *host.device_margin);
  json.end_object();
}

void write(JsonWriter& json, const Link& link) {
  json.begin_row().field("bytes_per_second", link.rate.bytes_per_second).field("latency_ns", link.latency);
  if (!link.curve.empty()) {
    json.key("curve").begin_array();
    for (const CurvePoint& point : link.curve)
      json.begin_row()
          .field("bytes", point.bytes)
          .field("bytes_per_second", point.rate.bytes_per_second)
          .end_object();
    json.end_array();
  }
  if (link.duplex) json.field("duplex", *link.duplex);
  json.end_object();
}

void write(JsonWriter& json, const Ranks& ranks) {
  json.key("ranks").begin_row().field("count", ranks.count);
  if (ranks.host) json.field("host_bytes_per_second", ranks.host->bytes_per_second);
  json.end_object();
}

void write(JsonWriter& json, const Disk& disk) {
  json.begin_object().field("capacity_bytes", disk.capacity).key("read");
  write(json, disk.read);
  json.key("write");
  write(json, disk.write);
  json.end_object();
}

void write(JsonWriter& json, const Links& links) {
  json.begin_object().key("h2d");
  write(json, links.h2d);
  json.key("d2h");
  write(json, links.d2h);
  json.field("pageable_bytes_per_second", links.pageable.bytes_per_second)
      .field("duplex", links.duplex)
      .field("compute_slowdown", links.compute_slowdown)
      .end_object();
}

}  // namespace

Machine parse_machine(const std::string& text) {
  return machine_of(JsonNode::parse(text));
}

Machine read_machine(const std::string& file) {
  return parse_file(file, parse_machine);
}

std::string to_json(const Machine& machine) {
  JsonWriter json;
  json.begin_object()
      .field("format", "stowage.machine")
      .field("version", machine_version)
      .field("name", machine.name);
  json.key("device")
      .begin_row()
      .field("memory_bytes", machine.device.memory)
      .field("reserved_bytes", machine.device.reserved)
      .end_object();
  json.key("host");
  write(json, machine.host);
  json.key("links");
  write(json, machine.links);
  json.field("arena", arena_words[static_cast<int>(machine.arena)]);
  json.key("arena_options")
      .begin_row()
      .field("expandable_segments", machine.arena_options.expandable_segments)
      .field("record_stream_lag_ns", machine.arena_options.record_stream_lag)
      .end_object();
  if (machine.ranks != Ranks{}) write(json, machine.ranks);
  if (machine.disk) write(json.key("disk"), *machine.disk);
  return json.end_object().text();
}

}  // namespace stowage
