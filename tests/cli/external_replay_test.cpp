// `stowage replay` of real recordings.
#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/external_recordings.h"

using namespace stowage;

namespace external_replay_test {

std::optional<JsonNode> replayed(const std::string& name) {
  const std::optional<std::string> file = tests::recording(name);
  if (!file) return std::nullopt;
  const tests::Ended ended = tests::Workplace().stowage("replay --json '" + *file + "'");
  REQUIRE(ended.code == 0);
  return ended.json();
}

// What the simulator makes of a recording's compute, with the waits that no plan causes as they were
// recorded.
TEST_CASE("simulated steps last as long as recorded ones") {
  for (const char* name : {"kineto_v100_resnet50_2021.json.gz", "kineto_v100_compiled_memory.json.gz",
                           "kineto_mi300x_resnet_checkpointed.json.gz",
                           "kineto_a100_side_stream_copies.json.gz", "kineto_a100_cuda_graphs.json.gz"}) {
    INFO(name);
    const std::optional<JsonNode> answer = replayed(name);
    if (!answer) return;
    const double recorded = answer->at("recorded").at("step_ns").number(1, 1e18);
    REQUIRE(answer->at("step_with_waits_ns").number(1, 1e18) == Approx(recorded).epsilon(0.015));
    REQUIRE(std::abs(answer->at("difference").at("compute").number(-1, 1)) < 0.03);
  }
}

TEST_CASE("the allocator holds what it held, to the byte") {
  for (const char* name : {"snapshot_gpt_medium_ctx128.pickle.gz", "snapshot_gpt_medium_ctx512.pickle.gz"}) {
    const std::optional<JsonNode> answer = replayed(name);
    if (!answer) return;
    REQUIRE(answer->at("simulated").at("reserved_bytes").integer() ==
            answer->at("recorded").at("reserved_bytes").integer());
  }
}

TEST_CASE("a checkpointed recording is replayed as it ran") {
  const std::optional<JsonNode> answer = replayed("kineto_mi300x_resnet_checkpointed.json.gz");
  if (!answer) return;
  REQUIRE(answer->at("plan").string() == "recompute of 8 of 8 blocks, in 4 segments");
}

}  // namespace external_replay_test
