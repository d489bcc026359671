// What would have been chosen and judged of the published rows.
#include <algorithm>
#include <cmath>
#include <map>

#include "forecast/verdict.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "traces/file.h"
#include "validation/published_figures.h"

using namespace stowage;
using namespace stowage::tests;

namespace published_choice_test {
namespace {

using BenchKey = std::tuple<std::string, std::string, std::string>;

std::map<BenchKey, std::vector<SweepAnswer>> benches() {
  const std::vector<Family> families = read_families(source_folder() + "/catalogue/families.json");
  const SweepReport report = predict_sweep(
      parse_sweep(read_file(source_folder() + "/catalogue/published/segmented_checkpointing.csv"), families),
      families);
  std::map<BenchKey, std::vector<SweepAnswer>> all;
  for (const SweepAnswer& answer : report.answers)
    if (answer.row.measured) all[{answer.row.family, answer.row.precision, answer.row.gpu}].push_back(answer);
  return all;
}

RowForecast exact(const Reading& reading) {
  const double seconds = seconds_of(reading.step), bytes = static_cast<double>(reading.peak.value);
  return {{seconds * 0.92, seconds, seconds * 1.08}, {bytes * 0.98, bytes, bytes * 1.02}, true};
}

const SweepAnswer* mode_named(const std::vector<SweepAnswer>& bench, const std::string& mode) {
  for (const SweepAnswer& answer : bench)
    if (answer.row.mode == mode) return &answer;
  return nullptr;
}

}  // namespace

// Every peak is a budget. Chosen is what is predicted fastest of what is predicted to fit with a hundredth to
// spare; it pays what the table says, and must fit there.
TEST_CASE("the choice among published rows is at most 5 percent slower than the best that fits") {
  std::size_t choices = 0, good = 0;
  for (const auto& [key, bench] : benches()) {
    const auto told = std::count_if(bench.begin(), bench.end(),
                                    [](const SweepAnswer& answer) { return answer.predicted.has_value(); });
    if (told < 3) continue;
    for (const SweepAnswer& limit : bench) {
      const double budget = static_cast<double>(limit.row.measured->peak.value) * 1.011;
      const SweepAnswer *chosen = nullptr, *best = nullptr;
      for (const SweepAnswer& answer : bench) {
        if (!answer.predicted || answer.use == RowUse::inert) continue;
        const Reading& measured = *answer.row.measured;
        if (static_cast<double>(measured.peak.value) <= budget &&
            (best == nullptr || measured.step < best->row.measured->step))
          best = &answer;
        if (static_cast<double>(answer.predicted->peak.value) <= budget &&
            (chosen == nullptr || answer.predicted->step < chosen->predicted->step))
          chosen = &answer;
      }
      if (best == nullptr || chosen == nullptr) continue;
      ++choices;
      const bool fits = static_cast<double>(chosen->row.measured->peak.value) <= budget;
      if (fits && seconds_of(chosen->row.measured->step) <= 1.05 * seconds_of(best->row.measured->step))
        ++good;
    }
  }
  INFO(good << " of " << choices);
  REQUIRE(choices >= 90);
  REQUIRE(static_cast<double>(good) >= 0.93 * static_cast<double>(choices));
}

TEST_CASE("options without effect are recognised, and others are not taken for them") {
  std::size_t inert = 0, found = 0, wired = 0, alarms = 0;
  for (const auto& [key, bench] : benches()) {
    const SweepAnswer *none = mode_named(bench, "none"), *layer = mode_named(bench, "layer");
    if (none == nullptr || layer == nullptr || !none->predicted || !layer->predicted) continue;
    for (const SweepAnswer& answer : bench) {
      if (!answer.predicted || answer.use == RowUse::basis) continue;
      const StepJudgement judgement =
          judge({exact(*answer.predicted),
                 {{"keeping everything", exact(*none->predicted), none->row.measured},
                  {"recomputing every block", exact(*layer->predicted), layer->row.measured}},
                 *answer.row.measured,
                 Bytes{1LL << 50}});
      const bool silent = judgement.verdict == StepVerdict::no_effect;
      if (answer.use == RowUse::inert) {
        ++inert;
        if (silent) ++found;
      } else {
        ++wired;
        if (silent) ++alarms;
      }
    }
  }
  INFO(found << " of " << inert << " found, " << alarms << " false of " << wired);
  REQUIRE(inert >= 20);
  REQUIRE(static_cast<double>(found) >= 0.9 * static_cast<double>(inert));
  REQUIRE(alarms == 0);
}

// A full device and twice the longest step that was forecast.
TEST_CASE("a silent spill is told from a slow step") {
  const RowForecast expected = exact({nanos_of(1), bytes_of(10)});
  const auto verdict = [&](double seconds, double gib, double device) {
    return judge({expected, {}, {nanos_of(seconds), bytes_of(gib)}, bytes_of(device)}).verdict;
  };
  REQUIRE(verdict(1.0, 10, 24) == StepVerdict::as_forecast);
  REQUIRE(verdict(5.0, 10, 10.2) == StepVerdict::spilled);
  REQUIRE(verdict(5.0, 10, 24) == StepVerdict::contradicts);
  REQUIRE(verdict(1.0, 12, 24) == StepVerdict::contradicts);
}

}  // namespace published_choice_test
