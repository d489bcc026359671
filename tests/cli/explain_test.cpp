// `stowage explain`, run as a process on the worked example of the design.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

JsonNode of_setting(const JsonNode& answer, const std::string& key) {
  for (const JsonNode& effect : answer.at("settings").items())
    if (effect.at("setting").string() == key) return effect;
  FAIL("no effect of " << key);
  return answer;
}

}  // namespace

TEST_CASE("explain says when most is on the device, and what it is") {
  const Workplace workplace;
  const Ended ended = workplace.stowage("explain profile.json --machine machine.json --policy keep --json");
  REQUIRE(ended.code == 0);
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("peak").at("step").string() == "the backward of block 3");
  REQUIRE(answer.at("peak").at("bytes").integer() == 217);
  // 100 resident, 4 x 20 saved, 4 x 5 weights, X_0 to X_3, two gradients of 2, a workspace of 4, a gradient
  // of 1
  const std::int64_t expected[] = {100, 80, 20, 8, 4, 4, 1};
  const std::vector<JsonNode> kinds = answer.at("peak").at("kinds").items();
  REQUIRE(kinds.size() == std::size(expected));
  for (std::size_t i = 0; i < kinds.size(); ++i) REQUIRE(kinds[i].at("bytes").integer() == expected[i]);
  REQUIRE(answer.at("waiting").items().empty());
}

TEST_CASE("explain names the waiting, the settings that help and those that change nothing") {
  const Workplace workplace;
  const Ended ended = workplace.stowage(
      "explain profile.json --machine machine.json --policy offload --prefetch 0 --vram 212B --json");
  const JsonNode answer = ended.json();
  REQUIRE(ended.code == 0);
  REQUIRE(answer.at("step_ns").integer() == 246);
  std::int64_t waited = 0;
  for (const JsonNode& wait : answer.at("waiting").items()) waited += wait.at("ns").integer();
  REQUIRE(waited == 116);
  // With one copy ahead 186 ns at 212 B; with more copies ahead more is on the device.
  const JsonNode prefetch = of_setting(answer, "prefetch");
  REQUIRE(prefetch.at("fastest").at("settings").string() == "--policy offload");
  REQUIRE(prefetch.at("fastest").at("step_ns").integer() == 186);
  REQUIRE_FALSE(of_setting(answer, "swap_which").at("matters").boolean());
  REQUIRE_FALSE(of_setting(answer, "h2d_streams").at("matters").boolean());  // there is no latency
  const std::string text =
      workplace
          .stowage("explain profile.json --machine machine.json --policy offload --prefetch 0 --vram 212B")
          .out;
  REQUIRE(text.find("These change nothing here: ") != std::string::npos);
}

TEST_CASE("explain says by how much settings do not fit, and what would make them") {
  const Workplace workplace;
  const Ended ended =
      workplace.stowage("explain profile.json --machine machine.json --policy keep --vram 200B --json");
  REQUIRE(ended.code == 1);
  const JsonNode answer = ended.json();
  REQUIRE_FALSE(answer.at("fits").boolean());
  REQUIRE(of_setting(answer, "policy").at("fastest").at("step_ns").integer() == 170);  // recompute, 157 B
  REQUIRE(workplace.stowage("explain profile.json --machine machine.json --interval 0").code == 2);
}
