#include "traces/export/chrome.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/traces/example_timeline.h"
#include "traces/json.h"

using namespace stowage;

namespace {

std::vector<JsonNode> events(const std::vector<Timeline>& timelines, const std::string& phase) {
  std::vector<JsonNode> found;
  for (const JsonNode& event : JsonNode::parse(to_chrome_trace(timelines)).at("traceEvents").items())
    if (event.at("ph").string() == phase) found.push_back(event);
  return found;
}

// Written in microseconds, compared in nanoseconds.
std::int64_t nanos(const JsonNode& event, const char* key) {
  return static_cast<std::int64_t>(event.at(key).number(0, 1e15) * 1000 + 0.5);
}

}  // namespace

TEST_CASE("spans are slices with their time, name and bytes") {
  const std::vector<JsonNode> slices = events({example_timeline()}, "X");
  REQUIRE(slices.size() == 4);  // three spans and the stall
  REQUIRE(slices[1].at("name").string() == "restore_saved 0.1");
  REQUIRE(nanos(slices[1], "ts") == 300);
  REQUIRE(nanos(slices[1], "dur") == 200);
  REQUIRE(slices[1].at("args").at("bytes").integer() == 64);
  REQUIRE(slices[2].at("name").string() == "backward 0");
  REQUIRE(slices[3].at("name").string() == "waits: restore");
  REQUIRE(nanos(slices[3], "ts") == 300);
}

TEST_CASE("times keep their nanoseconds") {
  Timeline timeline = example_timeline();
  timeline.spans = {{Lane::compute, StepKind::forward, 0, {}, {9007199254740993}, {9007199254741000}, {0}}};
  const std::string text = to_chrome_trace({timeline});  // 2^53 + 1, which no double holds
  REQUIRE(text.find("\"ts\": 9007199254740.993, \"dur\": 0.007") != std::string::npos);
}

TEST_CASE("each timeline is a process with named lanes, and no number is used twice") {
  Timeline measured = example_timeline();
  measured.source = "measured";
  std::map<std::int64_t, std::string> processes;
  std::map<std::int64_t, std::pair<std::int64_t, std::string>> threads;
  for (const JsonNode& event : events({example_timeline(), measured}, "M")) {
    const std::int64_t pid = event.at("pid").integer(), tid = event.at("tid").integer();
    if (event.at("name").string() == "process_name") processes[pid] = event.at("args").at("name").string();
    if (event.at("name").string() != "thread_name") continue;
    REQUIRE(threads.insert({tid, {pid, event.at("args").at("name").string()}}).second);
    REQUIRE(tid != pid);
  }
  REQUIRE(processes ==
          std::map<std::int64_t, std::string>{{1, "simulated example"}, {2, "measured example"}});
  REQUIRE(threads.size() == 2 * 4);  // compute, h2d, d2h, stalls
  for (const JsonNode& slice : events({example_timeline(), measured}, "X"))
    REQUIRE(threads.at(slice.at("tid").integer()).first == slice.at("pid").integer());
}

TEST_CASE("memory is counted") {
  const std::vector<JsonNode> samples = events({example_timeline()}, "C");
  REQUIRE(samples.size() == 3 + 1);  // device, host
  REQUIRE(samples[1].at("name").string() == "device bytes");
  REQUIRE(nanos(samples[1], "ts") == 300);
  REQUIRE(samples[1].at("args").at("bytes").integer() == 74);
  REQUIRE(samples[3].at("name").string() == "host bytes");
}

TEST_CASE("an arrow leads from the copy to the step that waited for it") {
  const std::vector<JsonNode> from = events({example_timeline()}, "s"),
                              to = events({example_timeline()}, "f");
  REQUIRE(from.size() == 1);
  REQUIRE(to.size() == 1);
  REQUIRE(from[0].at("id").integer() == to[0].at("id").integer());
  REQUIRE(nanos(from[0], "ts") == 300);  // within the copy
  REQUIRE(nanos(to[0], "ts") == 500);    // where the step begins
  REQUIRE(from[0].at("tid").integer() == events({example_timeline()}, "X")[1].at("tid").integer());
}

TEST_CASE("measured times need not meet exactly") {
  Timeline timeline = example_timeline();
  timeline.spans[1].end = {480};    // the copy
  timeline.spans[2].begin = {510};  // the step: a stall until 500 lies between
  REQUIRE(events({timeline}, "s").size() == 1);
  timeline.spans[1].end = {300};  // had ended before the stall began, so it was not what was waited for
  REQUIRE(events({timeline}, "s").empty());
}

TEST_CASE("a wait for no block, or for no copy, has no arrow") {
  Timeline timeline = example_timeline();
  timeline.stalls = {{StallCause::drain, {}, {300}, {500}}, {StallCause::restore, 7, {300}, {500}}};
  REQUIRE(events({timeline}, "X").size() == 3 + 2);
  REQUIRE(events({timeline}, "s").empty());
}

TEST_CASE("no timeline is an empty trace") {
  REQUIRE(JsonNode::parse(to_chrome_trace({})).at("traceEvents").items().empty());
}
