// stowage compare: where a prediction and a measurement differ.
#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>

#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "traces/json.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

void add_share(CLI::App& app, const std::string& flag, double& into, const std::string& help) {
  const auto take = [flag, &into](const std::string& text) { into = parse_share(flag, text); };
  app.add_option_function<std::string>(flag, take, help)->type_name("SHARE");
}

template <class Unit>
std::vector<std::string> cells(const std::string& name, const FigurePair& figures) {
  return {name, readable(Unit{figures.predicted}), readable(Unit{figures.measured}),
          change(figures.difference())};
}

std::string name_of_span(const Span& span) {
  std::string text = std::string(name_of(span.lane)) + " " + name_of(span.kind);
  if (span.block) text += " " + std::to_string(*span.block);
  if (span.storage) text += "." + std::to_string(*span.storage);
  return text;
}

// Lanes of a disk only where one of the two used it.
bool is_told(const Comparison& comparison, Lane lane) {
  const FigurePair& busy = comparison.busy[static_cast<std::size_t>(lane)];
  return !of_disk(lane) || busy.predicted + busy.measured > 0;
}

bool is_told(const Comparison& comparison, StallCause cause) {
  const FigurePair& stalls = comparison.stalls[static_cast<std::size_t>(cause)];
  return cause != StallCause::disk || stalls.predicted + stalls.measured > 0;
}

std::string figures_text(const Comparison& comparison) {
  Table table;
  table.row({"", "predicted", "measured", "difference"});
  table.row(cells<Nanos>("step", comparison.step));
  table.row(cells<Nanos>("  computing", comparison.compute));
  table.row(cells<Nanos>("  waiting", comparison.stall));
  for (std::size_t cause = 0; cause < stall_names.size(); ++cause)
    if (comparison.stalls[cause].predicted + comparison.stalls[cause].measured > 0)
      table.row(cells<Nanos>("    " + std::string(stall_names[cause]), comparison.stalls[cause]));
  for (std::size_t lane = 1; lane < lane_names.size(); ++lane)
    if (is_told(comparison, static_cast<Lane>(lane)))
      table.row(cells<Nanos>("copying " + std::string(lane_names[lane]), comparison.busy[lane]));
  table.row(cells<Bytes>("device peak", comparison.device_peak));
  table.row(cells<Bytes>("host peak", comparison.host_peak));
  return table.text();
}

std::string spans_text(const Comparison& comparison, std::size_t count) {
  std::string text;
  const std::vector<SpanPair> gaps = comparison.largest_gaps(count);
  if (!gaps.empty()) {
    Table table;
    table.row({"largest differences", "predicted", "measured", "longer by"});
    for (const SpanPair& pair : gaps)
      table.row({name_of_span(pair.either()), readable(pair.predicted_length()),
                 readable(pair.measured_length()),
                 readable(pair.measured_length() - pair.predicted_length())});
    text += "\n" + table.text();
  }
  if (const std::size_t missing = comparison.only_predicted())
    text += "\n  predicted, but not measured: " + std::to_string(missing) + " steps\n";
  if (const std::size_t extra = comparison.only_measured())
    text += "\n  measured, but not predicted: " + std::to_string(extra) + " steps\n";
  return text;
}

void write(JsonWriter& json, const FigurePair& figures) {
  json.begin_row()
      .field("predicted", figures.predicted)
      .field("measured", figures.measured)
      .field("difference", figures.difference())
      .end_object();
}

void write_side(JsonWriter& json, const std::string& side, const std::optional<Span>& span) {
  if (!span) return;
  json.field(side + "_begin_ns", span->begin).field(side + "_end_ns", span->end);
}

void write(JsonWriter& json, const SpanPair& pair) {
  const Span& span = pair.either();
  json.begin_row().field("lane", name_of(span.lane)).field("step", name_of(span.kind));
  if (span.block) json.field("block", *span.block);
  if (span.storage) json.field("storage", *span.storage);
  write_side(json, "predicted", pair.predicted);
  write_side(json, "measured", pair.measured);
  json.end_object();
}

class CompareCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"compare", "Show where a predicted and a measured timeline differ",
            "stowage compare predicted.json measured.json --step-tolerance 10% --peak-tolerance 1%"};
  }

  void declare(CLI::App& app) override {
    app.add_option("PREDICTED", predicted_, "A timeline, as `stowage simulate -o` writes it")
        ->required()
        ->type_name("FILE");
    app.add_option("MEASURED", measured_, "A timeline, as `stowage train -o` writes it")
        ->required()
        ->type_name("FILE");
    add_share(app, "--step-tolerance", step_tolerance_, "Step times this far apart are the same (10%)");
    add_share(app, "--peak-tolerance", peak_tolerance_, "Device peaks this far apart are the same (1%)");
    add_count(app, "--spans", spans_, 0, std::numeric_limits<std::int32_t>::max(),
              "How many of the largest differences to show (10)");
  }

  Answer run(Output& output) override {
    const Timeline predicted = read_timeline(predicted_), measured = read_timeline(measured_);
    const Comparison comparison = compare(predicted, measured);
    const bool same = std::abs(comparison.step.difference()) <= step_tolerance_ &&
                      std::abs(comparison.device_peak.difference()) <= peak_tolerance_;
    if (predicted.name != measured.name)
      output.warn("the timelines are of two profiles: \"" + predicted.name + "\" and \"" + measured.name +
                  "\"");
    output.answer(sentence(comparison, same));
    output.say("\n" + figures_text(comparison) + spans_text(comparison, static_cast<std::size_t>(spans_)));
    output.object(json_of(comparison, same));
    return same ? Answer::done : Answer::no;
  }

 private:
  std::string sentence(const Comparison& comparison, bool same) const {
    return std::string(same ? "They agree: " : "They differ: ") + "the step by " +
           change(comparison.step.difference()) + " (allowed " + percent(step_tolerance_) +
           "), the device peak by " + change(comparison.device_peak.difference()) + " (allowed " +
           percent(peak_tolerance_) + ").";
  }

  static std::string json_of(const Comparison& comparison, bool same) {
    JsonWriter json;
    json.begin_object().field("same", same);
    const auto figure = [&](std::string_view key, const FigurePair& figures) {
      json.key(key);
      write(json, figures);
    };
    figure("step_ns", comparison.step);
    figure("compute_ns", comparison.compute);
    figure("stall_ns", comparison.stall);
    figure("peak_bytes", comparison.device_peak);
    figure("host_peak_bytes", comparison.host_peak);
    json.key("busy_ns").begin_object();
    for (std::size_t lane = 0; lane < lane_names.size(); ++lane)
      if (is_told(comparison, static_cast<Lane>(lane))) figure(lane_names[lane], comparison.busy[lane]);
    json.end_object().key("stalls").begin_object();
    for (std::size_t cause = 0; cause < stall_names.size(); ++cause)
      if (is_told(comparison, static_cast<StallCause>(cause)))
        figure(stall_names[cause], comparison.stalls[cause]);
    json.end_object()
        .field("only_predicted", comparison.only_predicted())
        .field("only_measured", comparison.only_measured())
        .key("spans")
        .begin_array();
    for (const SpanPair& pair : comparison.spans) write(json, pair);
    return json.end_array().end_object().text();
  }

  std::string predicted_, measured_;
  double step_tolerance_ = 0.1, peak_tolerance_ = 0.01;
  std::int64_t spans_ = 10;
};

}  // namespace

std::unique_ptr<Command> compare_command() {
  return std::make_unique<CompareCommand>();
}

}  // namespace stowage
