// `stowage report`, run as a process. Its page: tests/report.
#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/report/page_data.h"

using namespace stowage;
using namespace stowage::tests;

TEST_CASE("a report of two timelines sets what was measured beside what was predicted") {
  const Workplace workplace;
  REQUIRE(workplace.stowage("simulate profile.json --machine machine.json --policy offload -o p.json").code ==
          0);
  std::string measured = workplace.read("p.json");
  measured.replace(measured.find("simulated"), 9, "measured");
  workplace.write("m.json", measured);
  // Measured first: a prediction is shown above it all the same.
  const Ended ended = workplace.stowage("report m.json p.json --vram 1GiB -o r.html --json");
  REQUIRE(ended.code == 0);
  REQUIRE(figure(ended.json(), "timelines") == 2);
  const JsonNode data = data_of(workplace.read("r.html"));
  const std::vector<JsonNode> runs = data.at("timelines").items();
  REQUIRE(runs[0].at("title").string() == "predicted");
  REQUIRE(runs[1].at("title").string() == "measured");
  REQUIRE(runs[0].at("step_ns").integer() == 186);  // section 3 of the design
  REQUIRE(data.at("device_budget_bytes").integer() == 1 << 30);
  // 4 forwards and backwards, prologue, epilogue and optimizer; 8 stores and 8 restores; each as predicted
  REQUIRE(runs[1].at("spans").at("length").items().size() == 8 + 3 + 16);
  for (const JsonNode& predicted : runs[0].at("spans").at("predicted").items()) REQUIRE(predicted.is_null());
  const std::vector<JsonNode> lengths = runs[1].at("spans").at("length").items();
  const std::vector<JsonNode> predicted = runs[1].at("spans").at("predicted").items();
  for (std::size_t i = 0; i < lengths.size(); ++i) REQUIRE(predicted[i].integer() == lengths[i].integer());
}

TEST_CASE("a report with a profile has its blocks, its memory by kind and other budgets") {
  const Workplace workplace;
  REQUIRE(workplace
              .stowage("report --profile profile.json --machine machine.json --policy offload --prefetch 0 "
                       "-o r.html")
              .code == 0);
  const JsonNode data = data_of(workplace.read("r.html"));
  REQUIRE(data.at("blocks").items().size() == 4);
  REQUIRE(data.at("blocks").items()[0].at("plan").string() == "keep, offload 2 of 2");
  REQUIRE(data.at("plan").at("step_ns").integer() == 246);
  REQUIRE(data.at("plan").at("peak_bytes").integer() == 198);
  REQUIRE(data.at("keep").at("step_ns").integer() == 130);
  REQUIRE(data.at("frontier").items().size() > 2);
  std::int64_t at_start = 0;
  for (const JsonNode& kind : data.at("timelines").items()[0].at("memory").at("device_kinds").items())
    at_start += kind.at("curve").at("bytes").items()[0].integer();
  // 100 resident, 20 weights, X_0 of 2, and with the first forward 20 saved, its output of 2, workspace of 3;
  // the prologue takes no time
  REQUIRE(at_start == 100 + 20 + 2 + 20 + 2 + 3);
}

TEST_CASE("without a plan and timelines the report is of the fastest plan that fits") {
  const Workplace workplace;
  const Ended ended =
      workplace.stowage("report --profile profile.json --machine machine.json --vram 216 -o r.html");
  REQUIRE(ended.code == 0);
  const JsonNode data = data_of(workplace.read("r.html"));
  REQUIRE(data.at("plan").at("on_device_bytes").integer() <= 216);
  REQUIRE(data.at("texts").items().size() == 2);  // flags, and the plan file
}

TEST_CASE("a report that lacks what it needs is refused in one line") {
  const Workplace workplace;
  const auto refused = [&](const std::string& arguments) {
    const Ended ended = workplace.stowage("report " + arguments);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.out == "");
    REQUIRE(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    return ended.err.substr(9);
  };
  REQUIRE(refused("-o r.html").starts_with("TIMELINE: expected one at least"));
  REQUIRE(
      refused("--profile profile.json -o r.html").starts_with("--machine: expected together with --profile"));
  REQUIRE(refused("t.json --policy keep -o r.html").starts_with("--policy: expected with --profile"));
  workplace.write(
      "t.json",
      R"({"format": "stowage.timeline", "version": 1, "source": "measured", "name": "", "step_ns": NaN})");
  REQUIRE(refused("t.json -o r.html").starts_with("t.json: "));
  REQUIRE(!workplace.holds("r.html"));
}
