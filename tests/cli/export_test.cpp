// `stowage export`, run as a process.
#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

const Workplace& with_timeline(const Workplace& workplace) {
  REQUIRE(workplace.stowage("simulate profile.json --machine machine.json --policy offload -o timeline.json")
              .code == 0);
  return workplace;
}

}  // namespace

TEST_CASE("timelines are written as a trace or as a table, by the name's end") {
  const Workplace workplace;
  const Ended ended =
      with_timeline(workplace).stowage("export timeline.json timeline.json -o trace.json --json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.json().at("format").string() == "chrome");
  REQUIRE(ended.json().at("timelines").integer() == 2);
  // of each: 4 forwards and backwards, prologue, epilogue and optimizer; 8 stores and 8 restores
  REQUIRE(ended.json().at("spans").integer() == 2 * (8 + 3 + 16));
  REQUIRE(JsonNode::parse(workplace.read("trace.json")).find("traceEvents").has_value());
  REQUIRE(workplace.stowage("export timeline.json -o table.csv").code == 0);
  const std::string table = workplace.read("table.csv");
  REQUIRE(table.starts_with("timeline,source,name,kind,"));
  REQUIRE(table.find("0,simulated,example,span,compute,forward,0,,0,10,0\n") != std::string::npos);
  REQUIRE(workplace.stowage("export timeline.json -o table --format csv").code == 0);
  REQUIRE(workplace.read("table") == table);
}

TEST_CASE("export refuses what it cannot tell or read, in one line") {
  const Workplace workplace;
  with_timeline(workplace);
  const auto refused = [&](const std::string& arguments) {
    const Ended ended = workplace.stowage("export " + arguments);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.out == "");
    REQUIRE(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    return ended.err.substr(9);
  };
  REQUIRE(
      refused("timeline.json -o trace").starts_with("--output: expected a name that ends in .json or .csv"));
  REQUIRE(
      refused("timeline.json -o t.json --format svg").starts_with("--format: expected one of chrome, csv"));
  REQUIRE(refused("profile.json -o t.json").starts_with("profile.json: format: "));
  REQUIRE(refused("-o t.json").starts_with("TIMELINE is required"));
  REQUIRE(!workplace.holds("t.json"));
}
