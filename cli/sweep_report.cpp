#include "cli/sweep_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "cli/table.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

// In the order of RowUse.
constexpr std::array<std::string_view, 4> use_names{"basis", "predicted", "inert", "left out"};

std::string with_digits(double number, const char* form) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), form, number);
  return text.data();
}

std::string title_of(const SweepRow& row) {
  return row.family + ", " + row.precision + ", " + row.gpu;
}

std::vector<std::string> figures_cells(const std::string& name, const SweepReport& report) {
  return {name,
          std::to_string(report.memory.cells),
          hundredths(report.memory.median),
          hundredths(report.memory.p90),
          hundredths(report.memory.worst),
          hundredths(report.time.median),
          hundredths(report.time.p90),
          hundredths(report.time.worst)};
}

void write_figure(JsonWriter& json, std::string_view key, double value, std::size_t cells) {
  json.key(key);
  if (cells == 0)
    json.null();
  else
    json.value(value);
}

void write_names(JsonWriter& json, const SweepRow& row) {
  json.field("family", row.family)
      .field("precision", row.precision)
      .field("mode", row.mode)
      .field("gpu", row.gpu);
}

void write_interval(JsonWriter& json, const RowForecast& row) {
  json.key("sec_per_step_interval").begin_array();
  json.value(row.seconds.low);
  json.value(row.seconds.high);
  json.end_array();
  json.key("peak_gib_interval").begin_array();
  json.value(row.bytes.low / bytes_per_gib);
  json.value(row.bytes.high / bytes_per_gib);
  json.end_array();
  json.field("basis", row.interpolated ? "interpolated" : "guessed");
}

void write_row(JsonWriter& json, const SweepAnswer& answer, const RowForecast* forecast = nullptr) {
  json.begin_row();
  write_names(json, answer.row);
  json.field("line", answer.row.line).field("use", use_names[static_cast<std::size_t>(answer.use)]);
  if (answer.row.measured)
    json.field("sec_per_step", seconds_of(answer.row.measured->step))
        .field("peak_gib", rounded_gib(answer.row.measured->peak));
  if (answer.predicted)
    json.field("predicted_sec_per_step", seconds_of(answer.predicted->step))
        .field("predicted_peak_gib", rounded_gib(answer.predicted->peak));
  if (answer.use == RowUse::predicted)
    json.field("time_error", answer.time_error()).field("memory_error", answer.memory_error());
  if (forecast != nullptr) write_interval(json, *forecast);
  if (!answer.reason.empty()) json.field("reason", answer.reason);
  json.end_object();
}

// Memory and time, and what had no effect.
void write_figures(JsonWriter& json, const SweepReport& report) {
  json.key("memory");
  write(json, report.memory);
  json.key("time");
  write(json, report.time);
  json.key("inert").begin_array();
  for (const SweepAnswer& answer : report.answers)
    if (answer.use == RowUse::inert) write_row(json, answer);
  json.end_array();
}

double share_within(const SweepReport& report, double (SweepAnswer::*error)() const, double bound) {
  std::size_t compared = 0, within = 0;
  for (const SweepAnswer& answer : report.answers) {
    if (answer.use != RowUse::predicted) continue;
    ++compared;
    if (std::abs((answer.*error)()) <= bound) ++within;
  }
  return compared > 0 ? static_cast<double>(within) / static_cast<double>(compared) : 0;
}

std::string whole_percent(double share) {
  return with_digits(share * 100, "%.0f %%");
}

}  // namespace

std::string hundredths(double share) {
  return with_digits(share * 100, "%.2f %%");
}

std::string signed_hundredths(double share) {
  return with_digits(share * 100, "%+.2f %%");
}

double rounded_gib(Bytes bytes) {
  return std::round(gib_of(bytes) * 1e4) / 1e4;
}

std::string sentence(const SweepReport& report) {
  if (report.memory.cells == 0) return "No row can be compared with a prediction.";
  return std::to_string(report.memory.cells) + " cells predicted from the rows none and layer: memory " +
         hundredths(report.memory.median) + " off in the median and " + hundredths(report.memory.p90) +
         " at nine of ten, time " + hundredths(report.time.median) + " and " + hundredths(report.time.p90) +
         ".";
}

std::string families_text(const SweepReport& report) {
  if (report.memory.cells == 0) return "";
  std::vector<std::string> names;
  for (const SweepAnswer& answer : report.answers)
    if (answer.use == RowUse::predicted &&
        std::find(names.begin(), names.end(), answer.row.family) == names.end())
      names.push_back(answer.row.family);
  Table table;
  table.row({"", "cells", "memory: median", "9 of 10", "worst", "time: median", "9 of 10", "worst"});
  for (const std::string& name : names) {
    std::vector<SweepAnswer> own;
    std::copy_if(report.answers.begin(), report.answers.end(), std::back_inserter(own),
                 [&](const SweepAnswer& answer) { return answer.row.family == name; });
    table.row(figures_cells(name, SweepReport::of(std::move(own))));
  }
  return table.row(figures_cells("all", report)).text();
}

std::string inert_text(const SweepReport& report) {
  Table table(1);
  for (const SweepAnswer& answer : report.answers)
    if (answer.use == RowUse::inert) table.row({title_of(answer.row), answer.row.mode, answer.reason});
  const std::string rows = table.text();
  return rows.empty() ? "" : "had no effect, and not counted:\n" + rows;
}

std::string worst_text(const SweepReport& report, std::size_t count) {
  if (report.memory.cells == 0) return "";
  std::vector<SweepAnswer> worst;
  std::copy_if(report.answers.begin(), report.answers.end(), std::back_inserter(worst),
               [](const SweepAnswer& answer) { return answer.use == RowUse::predicted; });
  const auto off = [](const SweepAnswer& answer) {
    return std::max(std::abs(answer.memory_error()), std::abs(answer.time_error()));
  };
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const SweepAnswer& a, const SweepAnswer& b) { return off(a) > off(b); });
  worst.resize(std::min(worst.size(), count));
  Table table;
  table.row({"furthest off", "GiB", "measured", "", "seconds", "measured", ""});
  for (const SweepAnswer& answer : worst)
    table.row(
        {title_of(answer.row) + ", " + answer.row.mode, with_digits(gib_of(answer.predicted->peak), "%.2f"),
         with_digits(gib_of(answer.row.measured->peak), "%.2f"), signed_hundredths(answer.memory_error()),
         with_digits(seconds_of(answer.predicted->step), "%.3f"),
         with_digits(seconds_of(answer.row.measured->step), "%.3f"), signed_hundredths(answer.time_error())});
  return table.text();
}

void write(JsonWriter& json, const ErrorFigures& figures) {
  json.begin_object().field("cells", figures.cells);
  write_figure(json, "median_error", figures.median, figures.cells);
  write_figure(json, "p90_error", figures.p90, figures.cells);
  write_figure(json, "worst", figures.worst, figures.cells);
  json.end_object();
}

void write(JsonWriter& json, const SweepReport& report) {
  write_figures(json, report);
  json.key("rows").begin_array();
  for (const SweepAnswer& answer : report.answers) write_row(json, answer);
  json.end_array();
}

std::string sentence(const SweepForecast& forecast) {
  const SweepReport& report = forecast.report;
  if (report.memory.cells == 0) return "No row can be compared with a forecast.";
  return std::to_string(report.memory.cells) +
         " cells forecast without rows of their own: memory within 5 % for " +
         whole_percent(share_within(report, &SweepAnswer::memory_error, 0.05)) + " and within 10 % for " +
         whole_percent(share_within(report, &SweepAnswer::memory_error, 0.1)) + ", time within 20 % for " +
         whole_percent(share_within(report, &SweepAnswer::time_error, 0.2)) +
         "; intervals meant for 90 % hold for " + whole_percent(forecast.bytes_covered) + " and " +
         whole_percent(forecast.seconds_covered) + ".";
}

void write_shares(JsonWriter& json, const SweepForecast& forecast) {
  const SweepReport& report = forecast.report;
  json.begin_object();
  json.field("cells", report.memory.cells);
  if (report.memory.cells > 0)
    json.field("memory_5_percent", share_within(report, &SweepAnswer::memory_error, 0.05))
        .field("memory_10_percent", share_within(report, &SweepAnswer::memory_error, 0.1))
        .field("time_20_percent", share_within(report, &SweepAnswer::time_error, 0.2))
        .field("memory_interval", forecast.bytes_covered)
        .field("time_interval", forecast.seconds_covered);
  json.end_object();
}

void write(JsonWriter& json, const SweepForecast& forecast) {
  const SweepReport& report = forecast.report;
  write_figures(json, report);
  write_shares(json.key("within"), forecast);
  json.field("calibrated_from", forecast.calibrated_from);
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < report.answers.size(); ++i)
    write_row(json, report.answers[i], forecast.rows[i] ? &*forecast.rows[i] : nullptr);
  json.end_array();
}

}  // namespace stowage
