#include "cli/check_report.h"

#include "cli/quantity.h"
#include "cli/sweep_report.h"
#include "cli/table.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

template <class Unit>
void add_cells(std::vector<std::string>& cells, const std::optional<Compared<Unit>>& figure) {
  if (figure)
    cells.insert(cells.end(), {readable(figure->predicted), readable(figure->measured),
                               signed_hundredths(figure->error())});
  else
    cells.insert(cells.end(), 3, "");
}

std::string figures_words(const char* what, const ErrorFigures& figures) {
  if (figures.cells == 0) return "";
  return "  " + std::string(what) + ", " + std::to_string(figures.cells) + " cells: median " +
         hundredths(figures.median) + ", nine of ten " + hundredths(figures.p90) + ", worst " +
         hundredths(figures.worst) + "\n";
}

}  // namespace

std::string text_of(const PublishedCheck& check) {
  Table table;
  table.row({check.name, "memory", "measured", "", "time", "measured", ""});
  for (const CheckRow& row : check.rows) {
    const bool basis = !row.memory && !row.time;
    std::vector<std::string> cells{basis ? row.label + " (the basis)" : row.label};
    add_cells(cells, row.memory);
    add_cells(cells, row.time);
    table.row(std::move(cells));
  }
  return table.text() + figures_words("memory", check.memory()) + figures_words("time", check.time());
}

void write(JsonWriter& json, const PublishedCheck& check) {
  json.begin_object().field("name", check.name).key("memory");
  write(json, check.memory());
  json.key("time");
  write(json, check.time());
  json.key("rows").begin_array();
  for (const CheckRow& row : check.rows) {
    json.begin_row().field("label", row.label);
    if (row.time)
      json.field("seconds", seconds_of(row.time->measured))
          .field("predicted_seconds", seconds_of(row.time->predicted))
          .field("time_error", row.time->error());
    if (row.memory)
      json.field("gib", rounded_gib(row.memory->measured))
          .field("predicted_gib", rounded_gib(row.memory->predicted))
          .field("memory_error", row.memory->error());
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace stowage
