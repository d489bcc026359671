// The published sweep forecast from the rows of others.
#include "forecast/sweep_forecast.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/paths.h"
#include "traces/file.h"

using namespace stowage;
using namespace stowage::tests;

namespace sweep_forecast_test {
namespace {

struct Published {
  std::vector<Family> families = read_families(source_folder() + "/catalogue/families.json");
  std::vector<Gpu> gpus = read_gpus(source_folder() + "/catalogue/gpus.json");
  std::vector<SweepRow> rows =
      parse_sweep(read_file(source_folder() + "/catalogue/published/segmented_checkpointing.csv"), families);

  SweepForecast forecast(const std::vector<SweepRow>& table) const {
    return forecast_sweep(table, rows, families, gpus);
  }
};

std::vector<SweepRow> rows_where(const Published& published, const std::string& family,
                                 const std::string& gpu) {
  std::vector<SweepRow> rows;
  for (const SweepRow& row : published.rows)
    if (row.family == family && row.gpu == gpu) rows.push_back(row);
  return rows;
}

double share(const SweepForecast& forecast, double (SweepAnswer::*error)() const, double bound) {
  double compared = 0, within = 0;
  for (const SweepAnswer& answer : forecast.report.answers) {
    if (answer.use != RowUse::predicted) continue;
    ++compared;
    if (std::abs((answer.*error)()) <= bound) ++within;
  }
  return within / compared;
}

}  // namespace

// What is reached, a little less: see docs/validation.md.
TEST_CASE("families are forecast from the others, and intervals hold") {
  const Published published;
  const SweepForecast forecast = forecast_by_family(published.rows, published.families, published.gpus);
  REQUIRE(forecast.report.memory.cells >= 300);
  REQUIRE(share(forecast, &SweepAnswer::memory_error, 0.1) >= 0.5);
  REQUIRE(forecast.bytes_covered >= 0.85);
  REQUIRE(forecast.seconds_covered >= 0.85);
}

TEST_CASE("another GPU of a family is forecast within bounds") {
  const Published published;
  const SweepForecast forecast = forecast_by_gpu(published.rows, published.families, published.gpus);
  REQUIRE(share(forecast, &SweepAnswer::memory_error, 0.05) >= 0.8);
  REQUIRE(share(forecast, &SweepAnswer::memory_error, 0.1) >= 0.94);
  REQUIRE(forecast.bytes_covered >= 0.8);
  REQUIRE(forecast.seconds_covered >= 0.8);
}

// The figures of the table's own rows must not matter.
TEST_CASE("nothing is predicted from itself") {
  const Published published;
  std::vector<SweepRow> table = rows_where(published, "Chroma", "H100"), doubled = table;
  for (SweepRow& row : doubled)
    if (row.measured) row.measured = Reading{row.measured->step * 2, row.measured->peak * 2};
  const SweepForecast first = published.forecast(table), second = published.forecast(doubled);
  for (std::size_t i = 0; i < table.size(); ++i)
    REQUIRE(first.report.answers[i].predicted == second.report.answers[i].predicted);
}

TEST_CASE("a forecast says what it stands on, and what it cannot say") {
  const Published published;
  std::vector<SweepRow> table = rows_where(published, "Chroma", "H100");
  const SweepForecast known = published.forecast(table);
  REQUIRE(known.rows.front()->interpolated);  // from the L40S
  REQUIRE(known.rows.front()->bytes.low < known.rows.front()->bytes.middle);
  REQUIRE(known.rows.front()->bytes.middle < known.rows.front()->bytes.high);
  for (SweepRow& row : table) row.family = "Flux.1";
  REQUIRE(!published.forecast(table).rows.front()->interpolated);
  for (SweepRow& row : table) row.gpu = "RTX 9999";
  const SweepForecast unknown = published.forecast(table);
  REQUIRE(!unknown.rows.front());
  REQUIRE(unknown.report.answers.front().use == RowUse::left_out);
  REQUIRE(unknown.report.memory.cells == 0);
}

}  // namespace sweep_forecast_test
