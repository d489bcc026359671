// `stowage compare`, run as a process.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "traces/timeline.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Writes offload.json, a predicted step of 186 ns and 212 bytes.
Timeline predict_offload(const Workplace& workplace) {
  REQUIRE(workplace.stowage("simulate profile.json --machine machine.json --policy offload -o offload.json")
              .code == 0);
  return read_timeline(workplace.path("offload.json"));
}

}  // namespace

TEST_CASE("a timeline agrees with itself") {
  const Workplace workplace;
  predict_offload(workplace);
  const Ended ended = workplace.stowage("compare offload.json offload.json --json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  REQUIRE(ended.json().at("same").boolean());
}

// The optimizer takes 14 ns instead of 4: the step is 196, 5.4 % longer than 186.
TEST_CASE("the span that took longer is named, and tolerances decide") {
  const Workplace workplace;
  Timeline slower = predict_offload(workplace);
  slower.source = "measured";
  slower.step += Nanos{10};
  slower.compute += Nanos{10};
  for (Span& span : slower.spans)
    if (span.kind == StepKind::optimizer) span.end += Nanos{10};
  workplace.write("measured.json", to_json(slower));

  const Ended told = workplace.stowage("compare offload.json measured.json");
  REQUIRE(told.code == 0);
  REQUIRE(told.out.starts_with("They agree: the step by +5.4 % (allowed 10 %)"));
  REQUIRE(told.out.find("compute optimizer") != std::string::npos);

  const Ended strict = workplace.stowage("compare offload.json measured.json --step-tolerance 5% --json");
  REQUIRE(strict.code == 1);
  const JsonNode answer = strict.json();
  REQUIRE_FALSE(answer.at("same").boolean());
  REQUIRE(answer.at("step_ns").at("measured").integer() == 196);
  REQUIRE(answer.at("only_predicted").integer() == 0);
}

TEST_CASE("peaks decide too") {
  const Workplace workplace;
  Timeline larger = predict_offload(workplace);
  for (MemorySample& sample : larger.memory.device)
    if (sample.bytes == Bytes{212}) sample.bytes += Bytes{3};  // 1.4 %
  workplace.write("measured.json", to_json(larger));
  REQUIRE(workplace.stowage("compare offload.json measured.json").code == 1);
  REQUIRE(workplace.stowage("compare offload.json measured.json --peak-tolerance 0.02").code == 0);
}

// Recompute has no copies: 16 of offload's spans have no partner. It has 4 recomputations that offload lacks.
TEST_CASE("steps without a partner are counted") {
  const Workplace workplace;
  predict_offload(workplace);
  REQUIRE(
      workplace.stowage("simulate profile.json --machine machine.json --policy recompute -o recompute.json")
          .code == 0);
  const JsonNode answer = workplace.stowage("compare offload.json recompute.json --json").json();
  REQUIRE(answer.at("only_predicted").integer() == 16);
  REQUIRE(answer.at("only_measured").integer() == 4);
}
