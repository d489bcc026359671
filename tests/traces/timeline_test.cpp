#include "traces/timeline.h"

#include <string>

#include "tests/catch.h"
#include "tests/traces/example_timeline.h"
#include "tests/traces/refusal.h"
#include "traces/json.h"

using namespace stowage;

TEST_CASE("timelines survive their file") {
  REQUIRE(parse_timeline(to_json(example_timeline())) == example_timeline());
  REQUIRE(peak(example_timeline().memory.device) == Bytes{74});
  REQUIRE(peak({}) == Bytes{0});
}

TEST_CASE("wrong timelines are refused with the path of the key") {
  const std::string text = to_json(example_timeline());
  const auto refused = [&](const char* from, const char* to) {
    return refusal(parse_timeline, changed(text, from, to));
  };
  REQUIRE(refused("\"end_ns\": 300", "\"end_ns\": -3") == "spans[0].end_ns: expected at least 0, not -3");
  REQUIRE(refused("\"at_ns\": 300", "\"at_ns\": 0") == "memory.device[1].at_ns: expected ascending times");
  REQUIRE(
      refused("\"restore\"", "\"rest\"").starts_with("stalls[0].cause: expected one of restore, weights"));
  REQUIRE(refused("simulated", "dreamt").starts_with("source: expected one of simulated, measured"));
}

TEST_CASE("every key of a timeline is checked") {
  const std::string text = to_json(example_timeline());
  const auto refused = [&](const char* from, const char* to) {
    return refusal(parse_timeline, changed(text, from, to));
  };
  REQUIRE(refused("\"compute_ns\": 1300", "\"compute_ns\": 1501") ==
          "compute_ns: expected at most 1500, not 1501");
  REQUIRE(refused("\"step_ns\": 1500", "\"step\": 1500") == "step: unknown key");
  REQUIRE(refused("\"lane\": \"h2d\"", "\"lane\": \"p2p\"") ==
          "spans[1].lane: expected one of compute, h2d, d2h, disk_read, disk_write, not \"p2p\"");
  REQUIRE(refused("\"block\": 0", "\"block\": 4294967296") ==
          "spans[0].block: expected at most 4294967295, not 4294967296");
  REQUIRE(refused("\"end_ns\": 500", "\"end_ns\": 299") == "spans[1].end_ns: expected at least 300, not 299");
  REQUIRE(refused("\"bytes\": 64", "\"bytes\": -1") == "spans[1].bytes: expected at least 0, not -1");
  REQUIRE(refused("\"copies\": 1", "\"copies\": \"1\"") == "counters.copies: expected an integer, not \"1\"");
  REQUIRE(refused("\"host\": [", "\"hosts\": [") == "memory.hosts: unknown key");
}

TEST_CASE("spans are written with all their keys") {
  const JsonNode root = JsonNode::parse(to_json(example_timeline()));
  for (const JsonNode& span : root.at("spans").items())
    for (const char* key : {"lane", "step", "block", "begin_ns", "end_ns", "bytes"}) REQUIRE(span.find(key));
}
