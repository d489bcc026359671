#include "tests/catch.h"
#include "traces/import/import.h"

using namespace stowage;

namespace {

ImportReport import_text(const std::string& text) {
  return import_recording(*open_bytes(std::span(text)), "made", {});
}

}  // namespace

TEST_CASE("changes by category add up to a peak") {
  // Before: 100 of parameters. Then 40 of activations in two
  // parts, one of them moved from "none"; then 10 freed.
  const ImportReport report = import_text(
      "[[-1, 1, 100, 0],\n [1696966047097946057, 2, 30, 4], [1696966047097946060, 2, 10, 7],"
      "[1696966047097946070, 3, -10, 7], [1696966047097946070, 3, 10, 4], [1696966047097946080, 4, -10, 4]]");
  REQUIRE(report.format == RecordingFormat::memory_timeline);
  REQUIRE(report.clean());
  REQUIRE(report.events == 6);
  REQUIRE(report.memory->account.start == Bytes{100});
  REQUIRE(report.memory->account.peak == Bytes{140});
  REQUIRE(report.memory->account.end == Bytes{130});
  REQUIRE(report.memory->account.peak_at == Nanos{1696966047097946060});
  REQUIRE(report.memory->at_peak.size() == 3);
  REQUIRE(report.memory->at_peak[1].owner == "activation");
  REQUIRE(report.memory->at_peak[1].bytes == Bytes{30});  // the move came after the peak was reached
  REQUIRE(report.steps.size() == 1);
  REQUIRE(report.steps[0].end == Nanos{1696966047097946080});
}

TEST_CASE("levels over time are the other form") {
  const ImportReport report = import_text(
      "[[10, 20, 30, 40], [[0, 5, 0, 0, 0, 1, 0, 0, 0], [0, 5, 0, 0, 0, 9, 0, 0, 2],"
      "[0, 5, 0, 0, 0, 3, 0, 0, 0], [0, 5, 0, 0, 0, 0, 0, 0, 0]]]");
  REQUIRE(report.clean());
  REQUIRE(report.memory->account.peak == Bytes{16});  // 5 + 9 + 2
  REQUIRE(report.memory->account.peak_at == Nanos{20000});
  REQUIRE(report.memory->at_peak.at(0).owner == "activation");
  REQUIRE(report.memory->account.curve.size() == 4);
}

TEST_CASE("a timeline that is cut keeps its changes") {
  const ImportReport report = import_text("[[-1, 1, 100, 0], [5, 2, 30, 4], [6, 2, 1");
  REQUIRE(report.events == 2);
  REQUIRE(report.memory->account.peak == Bytes{130});
  REQUIRE(report.repairs[Repair::truncated].count == 1);
  const ImportReport odd = import_text("[[-1, 1, 100, 0], [5, 2, {}, x y], [6, 2, 7, 99]]");
  REQUIRE(odd.memory->account.peak == Bytes{107});
  REQUIRE(odd.repairs[Repair::dropped_event].count == 1);
}

TEST_CASE("a step lasts from the earliest change to the latest, in whatever order they stand") {
  const ImportReport report =
      import_text("[[-1, 1, 100, 0], [50, 2, 30, 4], [20, 2, 10, 4], [40, 3, -10, 4]]");
  REQUIRE(report.steps.at(0).begin == Nanos{20});
  REQUIRE(report.steps.at(0).end == Nanos{50});
  REQUIRE(report.memory->account.start == Bytes{100});
}

TEST_CASE("rows of the wrong shape are dropped and counted") {
  // Two numbers, five and none; the changes around them stay.
  const ImportReport changes = import_text("[[-1, 1, 100, 0], [5, 2], [5, 2, 30, 4, 1], [], [6, 2, 7, 4]]");
  REQUIRE(changes.repairs[Repair::dropped_event].count == 3);
  REQUIRE(changes.events == 2);
  REQUIRE(changes.memory->account.peak == Bytes{107});
  // Four times, of which one has no row and two have rows of another shape: ten numbers, and one.
  const ImportReport levels =
      import_text("[[10, 20, 30, 40], [[0, 5, 0, 0, 0, 1, 0, 0, 0], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1], [7]]]");
  REQUIRE(levels.repairs[Repair::dropped_event].count == 3);
  REQUIRE(levels.events == 1);
  REQUIRE(levels.memory->account.peak == Bytes{6});
}
