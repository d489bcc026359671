#include "traces/import/import_json.h"

#include <algorithm>
#include <map>
#include <optional>

namespace stowage {
namespace {

void write_block(JsonWriter& json, const ImportedBlock& block) {
  json.begin_object();
  json.field("name", block.name).field("group", block.group).field("count", 1);
  json.field("forward_ns", block.forward)
      .field("backward_ns", block.backward)
      .field("recompute_ns", block.recompute);
  json.field("saved_bytes", block.bytes.saved).field("output_bytes", block.bytes.output);
  json.field("forward_workspace_bytes", block.bytes.forward_workspace);
  json.field("gradient_bytes", block.bytes.gradient);
  if (block.segment) json.field("segment", *block.segment);
  json.key("passes").begin_array();
  for (const BlockWork& pass : block.passes) {
    if (!pass.ran) {
      json.null();
      continue;
    }
    json.begin_object().field("forward_ns", pass.forward).field("backward_ns", pass.backward);
    json.field("recompute_ns", pass.recompute).end_object();
  }
  json.end_array().end_object();
}

void write_steps(JsonWriter& json, const std::vector<ImportedStep>& steps) {
  json.key("steps").begin_array();
  for (const ImportedStep& step : steps) {
    json.begin_object().field("begin_ns", step.begin).field("end_ns", step.end);
    if (step.peak) json.field("peak_bytes", *step.peak);
    json.end_object();
  }
  json.end_array();
}

void write_time(JsonWriter& json, const TimeReport& time) {
  const WorkTotals& totals = time.totals;
  json.key("time").begin_object().field("work_of", time.on_device ? "device" : "host");
  json.field("all_ns", totals.all)
      .field("blocks_ns", totals.blocks)
      .field("collectives_ns", totals.collectives);
  json.field("host_copies_ns", totals.host_copies)
      .field("orphans_ns", totals.orphans)
      .field("rest_ns", totals.rest);
  json.field("orphans", totals.orphan_count).field("busy_ns", time.occupation.busy);
  json.field("same_stream_overlaps", time.occupation.same_stream_overlaps);
  json.end_object();
}

void write_shares(JsonWriter& json, const char* key, const std::vector<MemoryShare>& shares) {
  json.key(key).begin_array();
  for (const MemoryShare& share : shares) {
    json.begin_object().field("owner", share.owner).field("bytes", share.bytes).end_object();
  }
  json.end_array();
}

void write_memory(JsonWriter& json, const MemoryReport& memory) {
  const MemoryAccount& account = memory.account;
  json.key("memory").begin_object();
  json.field("start_bytes", account.start).field("peak_bytes", account.peak).field("end_bytes", account.end);
  json.field("peak_at_ns", account.peak_at).field("reserved_peak_bytes", peak(memory.reserved));
  json.field("unknown_frees", account.unknown_frees).field("double_frees", account.double_frees);
  write_shares(json, "at_peak", memory.at_peak);
  if (!memory.segments.empty()) write_shares(json, "segments", memory.segments);
  json.end_object();
}

// As a machine file has them: a direction's pinned rate, or the
// only one where nothing says how memory was pinned.
void write_links(JsonWriter& json, const std::map<CopyKind, CopyFit>& links) {
  json.key("links").begin_object();
  std::optional<Rate> pageable;
  for (const CopyDirection direction : {CopyDirection::h2d, CopyDirection::d2h}) {
    const auto pinned = links.find({direction, HostSide::pinned}),
               unknown = links.find({direction, HostSide::unknown});
    const auto fit = pinned != links.end() ? pinned : unknown;
    if (fit != links.end()) {
      json.key(name_of(direction))
          .begin_object()
          .field("bytes_per_second", fit->second.rate.bytes_per_second);
      json.field("latency_ns", fit->second.latency)
          .field("median_error", fit->second.error)
          .field("samples", fit->second.samples)
          .end_object();
    }
    const auto slow = links.find({direction, HostSide::pageable});
    if (slow != links.end()) pageable = std::max(pageable.value_or(Rate{}), slow->second.rate);
  }
  if (pageable) json.field("pageable_bytes_per_second", pageable->bytes_per_second);
  json.end_object();
}

void write_copies(JsonWriter& json, const CopyReport& copies) {
  json.key("copies").begin_array();
  for (const CopyTraffic& traffic : copies.traffic) {
    json.begin_object()
        .field("direction", name_of(traffic.kind.direction))
        .field("host", name_of(traffic.kind.host));
    json.field("device", traffic.stream.process)
        .field("stream", traffic.stream.thread)
        .field("count", traffic.count);
    json.field("bytes", traffic.bytes)
        .field("time_ns", traffic.time)
        .field("without_bytes", traffic.without_bytes)
        .field("untimed", traffic.untimed);
    json.end_object();
  }
  json.end_array().key("copy_classes").begin_array();
  for (const CopyClass& of : copies.classes) {
    json.begin_object()
        .field("direction", name_of(of.kind.direction))
        .field("host", name_of(of.kind.host))
        .field("smallest_bytes", of.smallest)
        .field("largest_bytes", of.largest);
    json.field("count", of.count).field("bytes", of.bytes);
    if (of.rate) json.field("bytes_per_second", of.rate->bytes_per_second);
    json.end_object();
  }
  json.end_array();
  json.field("crossing_ns", copies.crossing).field("hidden_ns", copies.hidden);
  if (copies.claimed_rate_off_by) json.field("claimed_rate_off_by", *copies.claimed_rate_off_by);
}

void write_synchronisation(JsonWriter& json, const SynchronisationReport& report) {
  json.key("synchronisation").begin_object().key("kinds").begin_object();
  for (const auto& [kind, count] : report.kinds) json.field(kind, count);
  json.end_object().key("stream_waits").begin_array();
  for (const auto& [wait, count] : report.stream_waits) {
    json.begin_object().field("device", wait.first.process).field("stream", wait.first.thread);
    json.field("waits_for", wait.second).field("count", count).end_object();
  }
  json.end_array()
      .field("unresolved", report.unresolved)
      .field("out_of_order", report.out_of_order)
      .end_object();
}

}  // namespace

void write_recovered(JsonWriter& json, const Repairs& repairs) {
  json.key("recovered").begin_object();
  for (int i = 0; i < repair_count; ++i) {
    const auto repair = static_cast<Repair>(i);
    if (repairs[repair].count > 0) json.field(name_of(repair), repairs[repair].count);
  }
  json.end_object();
  json.key("first_offsets").begin_object();
  for (int i = 0; i < repair_count; ++i) {
    const auto repair = static_cast<Repair>(i);
    if (repairs[repair].count > 0) json.field(name_of(repair), repairs[repair].first_offset);
  }
  json.end_object();
}

std::string to_json(const ImportReport& report) {
  JsonWriter json;
  json.begin_object().field("format", name_of(report.format)).field("events", report.events);
  write_recovered(json, report.repairs);
  json.field("found_by", name_of(report.found.how)).key("blocks").begin_array();
  for (const ImportedBlock& block : report.found.blocks) write_block(json, block);
  json.end_array().field("explained", report.time ? report.time->totals.explained() : 0.0);
  if (report.time) write_time(json, *report.time);
  write_steps(json, report.steps);
  json.key("peak_bytes");
  if (report.memory) {
    json.value(report.memory->account.peak);
    write_memory(json, *report.memory);
  } else {
    json.null();
  }
  write_links(json, report.copies ? report.copies->links : std::map<CopyKind, CopyFit>());
  if (report.copies) write_copies(json, *report.copies);
  if (report.synchronisation) write_synchronisation(json, *report.synchronisation);
  json.key("notes").begin_array();
  for (const std::string& text : report.notes) json.value(text);
  json.end_array().key("doubts").begin_array();
  for (const std::string& text : report.doubts) json.value(text);
  return json.end_array().end_object().text();
}

}  // namespace stowage
