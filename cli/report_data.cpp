#include "cli/report_data.h"

#include <array>
#include <span>
#include <string_view>

#include "cli/comparison.h"
#include "cli/prediction.h"
#include "cli/setting_flags.h"
#include "plan/names.h"
#include "traces/json.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

// In the order of BufferKind.
constexpr std::array<std::string_view, buffer_kind_count> kind_names = {
    "resident", "optimizer_state", "weights",  "activation", "activation_gradient",
    "saved",    "workspace",       "gradient", "checkpoint"};

void write_names(JsonWriter& json, std::string_view key, std::span<const std::string_view> names) {
  json.key(key).begin_array();
  for (const std::string_view name : names) json.value(name);
  json.end_array();
}

// One number a row; `of` gives it, or nothing.
template <class Rows, class Of>
void write_column(JsonWriter& json, std::string_view key, const Rows& rows, Of of) {
  json.key(key).begin_array();
  for (const auto& row : rows) {
    const std::optional<std::int64_t> number = of(row);
    number ? json.value(*number) : json.null();
  }
  json.end_array();
}

// Each number as its difference from the row before.
template <class Rows, class Of>
void write_steps(JsonWriter& json, std::string_view key, const Rows& rows, Of of) {
  std::int64_t before = 0;
  write_column(json, key, rows, [&](const auto& row) -> std::optional<std::int64_t> {
    const std::int64_t number = of(row), step = number - before;
    before = number;
    return step;
  });
}

std::optional<std::int64_t> index(const std::optional<std::uint32_t>& of) {
  return of ? std::optional<std::int64_t>(*of) : std::nullopt;
}

// Spans beside those of the first timeline that did the same; alone for the first.
std::vector<SpanPair> rows_of(const Report& report, std::size_t which) {
  const Timeline& timeline = report.timelines[which].timeline;
  std::vector<SpanPair> rows;
  if (which == 0) {
    for (const Span& span : timeline.spans) rows.push_back({{}, span});
    return rows;
  }
  for (SpanPair& pair : compare(report.timelines[0].timeline, timeline).spans)
    if (pair.measured) rows.push_back(std::move(pair));
  return rows;
}

void write_spans(JsonWriter& json, const std::vector<SpanPair>& rows) {
  using Number = std::optional<std::int64_t>;
  const auto column = [&](std::string_view key, auto of) {
    write_column(json, key, rows, [&](const SpanPair& row) -> Number { return of(*row.measured); });
  };
  json.key("spans").begin_object();
  column("lane", [](const Span& span) { return static_cast<std::int64_t>(span.lane); });
  column("kind", [](const Span& span) { return static_cast<std::int64_t>(span.kind); });
  column("block", [](const Span& span) { return index(span.block); });
  column("storage", [](const Span& span) { return index(span.storage); });
  column("layer", [](const Span& span) { return index(span.layer); });
  write_steps(json, "begin", rows, [](const SpanPair& row) { return row.measured->begin.value; });
  column("length", [](const Span& span) { return (span.end - span.begin).value; });
  column("bytes", [](const Span& span) { return span.bytes.value; });
  column("pageable", [](const Span& span) { return span.pageable ? 1 : 0; });
  write_column(json, "predicted", rows, [](const SpanPair& row) {
    return row.predicted ? Number(row.predicted_length().value) : Number();
  });
  json.end_object();
}

void write_curve(JsonWriter& json, const std::vector<MemorySample>& curve) {
  json.begin_object();
  write_steps(json, "at", curve, [](const MemorySample& sample) { return sample.at.value; });
  write_steps(json, "bytes", curve, [](const MemorySample& sample) { return sample.bytes.value; });
  json.end_object();
}

void write_kinds(JsonWriter& json, std::string_view key, const std::vector<KindCurve>& curves) {
  json.key(key).begin_array();
  for (const KindCurve& curve : curves) {
    json.begin_object().field("kind", static_cast<int>(curve.kind)).key("curve");
    write_curve(json, curve.samples);
    json.end_object();
  }
  json.end_array();
}

void write_memory(JsonWriter& json, const ReportTimeline& shown) {
  const Curves& memory = shown.timeline.memory;
  json.key("memory").begin_object();
  const std::pair<std::string_view, const std::vector<MemorySample>*> curves[] = {
      {"device", &memory.device},
      {"host", &memory.host},
      {"reserved", &memory.reserved},
      {"disk", &memory.disk}};
  for (const auto& [key, curve] : curves)
    if (!curve->empty()) write_curve(json.key(key), *curve);
  if (shown.kinds) {
    write_kinds(json, "device_kinds", shown.kinds->device);
    write_kinds(json, "host_kinds", shown.kinds->host);
    write_curve(json.key("pinned"), shown.kinds->pinned);
  }
  json.end_object();
}

void write_stalls(JsonWriter& json, const std::vector<Stall>& stalls) {
  using Number = std::optional<std::int64_t>;
  json.key("stalls").begin_object();
  write_column(json, "cause", stalls,
               [](const Stall& s) { return Number(static_cast<std::int64_t>(s.cause)); });
  write_column(json, "block", stalls, [](const Stall& s) { return index(s.block); });
  write_steps(json, "begin", stalls, [](const Stall& s) { return s.begin.value; });
  write_column(json, "length", stalls, [](const Stall& s) { return Number((s.end - s.begin).value); });
  json.end_object();
}

void write_timelines(JsonWriter& json, const Report& report) {
  json.key("timelines").begin_array();
  for (std::size_t i = 0; i < report.timelines.size(); ++i) {
    const ReportTimeline& shown = report.timelines[i];
    const Timeline& timeline = shown.timeline;
    json.begin_object().field("title", shown.title).field("source", timeline.source);
    json.field("step_ns", timeline.step).field("compute_ns", timeline.compute);
    write_spans(json, rows_of(report, i));
    write_memory(json, shown);
    write_stalls(json, timeline.stalls);
    json.key("counters").begin_object();
    for (const auto& [name, count] : timeline.counters) json.field(name, count);
    json.end_object().end_object();
  }
  json.end_array();
}

// "recompute attention, offload 2 of 3, weights two-way"
std::string words_of(const BlockDecision& decision, const BlockProfile& block) {
  std::string text(name_in(activation_names, decision.activation));
  if (decision.scope) text += " " + std::string(name_in(scope_names, *decision.scope));
  if (decision.segment) text += ", segment " + std::to_string(*decision.segment);
  if (!decision.offload.empty())
    text += ", offload " + std::to_string(decision.offload.size()) + " of " +
            std::to_string(storages(block).size());
  if (decision.offload_input) text += ", offload the input";
  if (decision.weights != Residence::resident)
    text += ", weights " + std::string(name_in(residence_names, decision.weights));
  return text;
}

void write_blocks(JsonWriter& json, const Report& report) {
  json.key("blocks").begin_array();
  const std::vector<BlockProfile> blocks = report.profile->expanded();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockProfile& block = blocks[i];
    json.begin_row().field("name", block.name);
    if (block.group) json.field("group", *block.group);
    json.field("forward_ns", block.times.forward).field("backward_ns", block.times.backward);
    json.field("saved_bytes", saved_bytes(block)).field("weight_bytes", block.sizes.weight);
    if (report.plan) json.field("plan", words_of(report.plan->plan.blocks[i], block));
    json.end_object();
  }
  json.end_array();
}

void write_priced(JsonWriter& json, const std::string& words, const std::string& flags, const Run& run) {
  json.begin_object().field("words", words);
  if (!flags.empty()) json.field("flags", flags);
  write_run(json, run);
  json.field("on_device_bytes", run.peaks.on_device()).end_object();
}

void write_tuned(JsonWriter& json, const TuneResult& tuned) {
  json.key("keep");
  write_priced(json, "keep everything", "--policy keep", tuned.null_run);
  json.key("frontier").begin_array();
  for (const FrontierPoint& point : tuned.frontier)
    write_priced(json, describe(point.settings), flags_of(point.settings), point.run);
  json.end_array();
}

void write_plan(JsonWriter& json, const ReportPlan& plan) {
  json.key("plan");
  write_priced(json, plan.words, plan.plan.settings ? flags_of(*plan.plan.settings) : "", plan.run);
}

}  // namespace

std::string report_data(const Report& report) {
  JsonWriter json;
  json.begin_object().field("name", report.name);
  write_names(json, "lanes", lane_names);
  write_names(json, "steps", step_names);
  write_names(json, "causes", stall_names);
  write_names(json, "kinds", kind_names);
  if (report.device_budget) json.field("device_budget_bytes", *report.device_budget);
  if (report.host_budget) json.field("host_budget_bytes", *report.host_budget);
  write_timelines(json, report);
  if (report.profile) write_blocks(json, report);
  if (report.plan) write_plan(json, *report.plan);
  if (report.tuned) write_tuned(json, *report.tuned);
  json.key("texts").begin_array();
  for (const ReportText& text : report.texts)
    json.begin_row().field("title", text.title).field("text", text.text).end_object();
  return json.end_array().end_object().text();
}

}  // namespace stowage
