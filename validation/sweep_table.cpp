#include "validation/sweep_table.h"

#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

#include "validation/cells.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

// Takes "<word><number>" off the front of `text`; absent where it does not stand there.
std::optional<std::int64_t> take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + word.size(), end, number);
  if (error != std::errc{} || number < 1) return std::nullopt;
  text = {rest, static_cast<std::size_t>(end - rest)};
  return number;
}

std::optional<Reading> reading_of(const CsvRow& row) {
  const bool timed = !row.text("sec_per_step").empty(), sized = !row.text("peak_gib").empty();
  if (!timed && !sized && row.text("status") != "ok") return std::nullopt;
  return Reading{seconds_in(row, "sec_per_step"), gib_in(row, "peak_gib")};
}

std::string names_of(const std::vector<Family>& families) {
  std::string names;
  for (const Family& family : families) names += (names.empty() ? "" : ", ") + family.name;
  return names;
}

}  // namespace

std::optional<SweepMode> mode_of(const std::string& name) {
  if (name == "none") return SweepMode{};
  if (name == "layer") return SweepMode{true, 1, std::nullopt};
  std::string_view rest = name;
  if (const auto interval = take(rest, "interval"); interval && rest.empty())
    return SweepMode{true, *interval, std::nullopt};
  rest = name;
  if (const auto interval = take(rest, "seg"))
    if (const auto stride = take(rest, "-stride"); stride && rest.empty() && *stride >= *interval)
      return SweepMode{true, *interval, *stride};
  return std::nullopt;
}

std::optional<Settings> settings_of(const SweepMode& mode, const Family& family) {
  if (!mode.checkpoints) return std::nullopt;
  Settings settings;
  settings.policy = Policy::recompute;
  settings.interval = mode.interval;
  settings.stride = mode.stride;
  settings.segmenting = family.segmenting.value();
  return settings;
}

std::vector<SweepRow> parse_sweep(const std::string& text, const std::vector<Family>& families) {
  std::vector<SweepRow> rows;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> lines;
  for (const CsvRow& cells :
       parse_csv(text, {"family", "precision", "mode", "gpu", "sec_per_step", "peak_gib", "status"})) {
    SweepRow row{.line = cells.line(),
                 .family = cells.text("family"),
                 .precision = cells.text("precision"),
                 .mode = cells.text("mode"),
                 .gpu = cells.text("gpu"),
                 .status = cells.text("status"),
                 .measured = reading_of(cells),
                 .resolution = bytes_of(cells.resolution("peak_gib"))};
    if (find_family(families, row.family) == nullptr)
      cells.refuse("family", "a family of the catalogue (" + names_of(families) + ")");
    const auto [first, added] =
        lines.emplace(std::tuple{row.family, row.precision, row.mode, row.gpu}, row.line);
    if (!added) cells.refuse("mode", "one not yet given on line " + std::to_string(first->second));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stowage
