#include "traces/timeline.h"

#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"
#include "traces/export/chrome.h"
#include "traces/json.h"

using namespace stowage;

namespace {

Timeline example() {
  Timeline timeline;
  timeline.source = "simulated";
  timeline.name = "example";
  timeline.step = {1500};
  timeline.compute = {1300};
  timeline.spans = {{Lane::compute, StepKind::forward, 0, {}, {0}, {300}, {0}},
                    {Lane::h2d, StepKind::restore_saved, 0, 1, {300}, {500}, {64}},
                    {Lane::compute, StepKind::backward, 0, {}, {500}, {1500}, {0}}};
  timeline.memory.device = {{{0}, {10}}, {{300}, {74}}, {{1500}, {10}}};
  timeline.memory.host = {{{0}, {64}}};
  timeline.stalls = {{StallCause::restore, 0, {300}, {500}}};
  timeline.counters = {{"copies", 1}};
  return timeline;
}

}  // namespace

TEST_CASE("timelines survive their file") {
  REQUIRE(parse_timeline(to_json(example())) == example());
  REQUIRE(peak(example().memory.device) == Bytes{74});
  REQUIRE(peak({}) == Bytes{0});
}

TEST_CASE("wrong timelines are refused with the path of the key") {
  const std::string text = to_json(example());
  const auto refused = [&](const char* from, const char* to) {
    return refusal(parse_timeline, changed(text, from, to));
  };
  REQUIRE(refused("\"end_ns\": 300", "\"end_ns\": -3") == "spans[0].end_ns: expected at least 0, not -3");
  REQUIRE(refused("\"at_ns\": 300", "\"at_ns\": 0") == "memory.device[1].at_ns: expected ascending times");
  REQUIRE(
      refused("\"restore\"", "\"rest\"").starts_with("stalls[0].cause: expected one of restore, weights"));
  REQUIRE(refused("simulated", "dreamt").starts_with("source: expected one of simulated, measured"));
}

TEST_CASE("a Chrome trace holds lanes, stalls, memory and what was waited for") {
  Timeline measured = example();
  measured.source = "measured";
  const JsonNode root = JsonNode::parse(to_chrome_trace({example(), measured}));
  int spans = 0, counters = 0, names = 0, arrows = 0;
  for (const JsonNode& event : root.at("traceEvents").items()) {
    const std::string phase = event.at("ph").string();
    spans += phase == "X";
    counters += phase == "C";
    names += phase == "M";
    arrows += phase == "f";
    if (event.at("name").string() == "restore_saved 0.1" && event.at("pid").integer() == 1) {
      REQUIRE(event.at("ts").number(0.3, 0.3) == 0.3);  // 300 ns
      REQUIRE(event.at("dur").number(0.2, 0.2) == 0.2);
      REQUIRE(event.at("args").at("bytes").integer() == 64);
    }
  }
  REQUIRE(spans == 2 * (3 + 1));     // spans and the stall, for each of two processes
  REQUIRE(counters == 2 * (3 + 1));  // device and host samples
  REQUIRE(names == 2 * (1 + 4));     // the process, three lanes and the stalls
  REQUIRE(arrows == 2);
}
