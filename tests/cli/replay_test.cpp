// `stowage replay`, run as a process.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/import_made_trace.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

std::string numbered(int sequence) {
  return R"("Sequence number": )" + std::to_string(sequence);
}

// Two layers. On the device, in microseconds: forwards [12000, 12300) and [12300, 12600), backwards [12700,
// 13300) and [13300, 13900), and a copy of 10 MB over the link [14000, 15000). Each layer keeps 4096 bytes
// and an output of 1024.
MadeTrace made_training(bool with_backward) {
  MadeTrace trace;
  for (int i = 0; i < 2; ++i) {
    const long at = 1000 * (i + 1);
    trace.module("Layer_" + std::to_string(i), 5, at, 500).op("aten::mm", 5, at + 10, 100, numbered(i));
    trace.kernel("mm", 5, at + 20, 12000 + 300 * i, 300);
    trace.memory(5, at + 30, 64 + i, 4096).memory(5, at + 40, 128 + i, 1024);
  }
  for (int i = 1; with_backward && i >= 0; --i) {
    const long at = 5000 - 1000 * i;
    trace.op("autograd::engine::evaluate_function: MmBackward0", 6, at, 500,
             R"("Fwd thread id": 1, )" + numbered(i));
    trace.kernel("bwd", 6, at + 20, 13300 - 600 * i, 600).memory(6, at + 30, 64 + i, -4096);
  }
  return trace;
}

MadeTrace with_copy(MadeTrace trace) {
  return trace.copy("HtoD (Pinned -> Device)", 5, 6000, 14000, 1000, 10'000'000);
}

std::int64_t figure(const JsonNode& answer, const char* side, const char* key) {
  return answer.at(side).at(key).integer();
}

}  // namespace

TEST_CASE("replay sets what was recorded beside what is simulated") {
  const Workplace workplace;
  workplace.write("trace.json", with_copy(made_training(true)).text());
  const Ended ended = workplace.stowage("replay trace.json --json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("format").string() == "kineto");
  REQUIRE(answer.at("plan").string() == "keep");
  REQUIRE(figure(answer, "recorded", "step_ns") == 3'000'000);     // [12000, 15000)
  REQUIRE(figure(answer, "recorded", "compute_ns") == 1'800'000);  // 2 * 300 + 2 * 600
  REQUIRE(figure(answer, "recorded", "copies_ns") == 1'000'000);
  REQUIRE(figure(answer, "recorded", "busy_ns") == 2'800'000);
  REQUIRE(figure(answer, "recorded", "stall_ns") == 200'000);  // 100 before the backward, 100 before the copy
  REQUIRE(figure(answer, "recorded", "peak_bytes") == 10'240);  // 2 * (4096 + 1024)
  REQUIRE(figure(answer, "simulated", "step_ns") == 1'800'000);
  REQUIRE(figure(answer, "simulated", "stall_ns") == 0);
  // The input of the first layer was there before the recording, and so is not in its peak; B_1 adds the
  // gradient of its own: 3 * 1024 + 2 * 4096 + 1024.
  REQUIRE(figure(answer, "simulated", "peak_bytes") == 12'288);
  REQUIRE(answer.at("difference").at("peak").number(0, 1) == Approx(0.2));
  REQUIRE(answer.at("step_with_waits_ns").integer() == 3'000'000);
  const auto settings = answer.at("settings").items();
  REQUIRE(settings.size() == 4);
  REQUIRE(settings[0].at("flags").string() == "--policy keep");
  REQUIRE(settings[1].at("flags").string() == "--policy recompute");
  REQUIRE(settings[1].at("step_ns").integer() == 2'400'000);  // two forwards more
  REQUIRE(settings[2].at("flags").string() == "--policy recompute --interval 2");
  REQUIRE(settings[3].at("flags").string() == "--policy offload");
  REQUIRE(settings[3].at("host_activation_peak_bytes").integer() == 8192);
  REQUIRE(answer.at("unknown").items().empty());
}

TEST_CASE("replay keeps silent about what a recording does not tell") {
  const Workplace workplace;
  workplace.write("trace.json", made_training(true).text());
  JsonNode answer = workplace.stowage("replay trace.json --json").json();
  REQUIRE(answer.at("settings").items().size() == 3);  // no offload without a link
  REQUIRE(answer.at("unknown").items().at(0).string().starts_with("offload: "));
  answer = workplace.stowage("replay trace.json --json --machine machine.json").json();
  REQUIRE(answer.at("settings").items().size() == 4);
  workplace.write("forward.json", made_training(false).text());
  answer = workplace.stowage("replay forward.json --json").json();
  REQUIRE(answer.at("settings").items().empty());
  REQUIRE(answer.at("unknown").items().at(0).string().find("no backward") != std::string::npos);
}

TEST_CASE("what inference lets go of is not simulated as kept") {
  MadeTrace trace;  // each layer leaves 4 KiB, and the next one's caller frees them
  for (int i = 0; i < 4; ++i) {
    const long at = 1000 * (i + 1);
    trace.module("Layer_" + std::to_string(i), 1, at, 500).op("aten::mm", 1, at + 10, 100);
    trace.kernel("mm", 1, at + 20, at + 100, 300).memory(1, at + 30, 64 + i, 4096);
    if (i > 0) trace.memory(1, at + 600, 63 + i, -4096);
  }
  const Workplace workplace;
  workplace.write("trace.json", trace.text());
  const JsonNode answer = workplace.stowage("replay trace.json --json").json();
  REQUIRE(answer.at("recorded").at("peak_bytes").integer() == 8192);
  REQUIRE(answer.at("simulated").at("peak_bytes").is_null());
  REQUIRE(answer.at("unknown").items().back().string().find("16.0 KiB, of which 8.00 KiB") !=
          std::string::npos);
}

TEST_CASE("other settings are held against the memory that there is") {
  const Workplace workplace;
  workplace.write("trace.json", made_training(true).text());
  const auto settings =
      workplace.stowage("replay trace.json --json --vram 12000").json().at("settings").items();
  REQUIRE(settings[0].at("outcome").string() == "out_of_memory");  // 12288
  REQUIRE(settings[1].at("outcome").string() == "ran");
}

TEST_CASE("replay of a damaged recording tells so") {
  const Workplace workplace;
  const std::string whole = with_copy(made_training(true)).text();
  workplace.write("cut.json", whole.substr(0, whole.size() - 20));
  const Ended ended = workplace.stowage("replay cut.json");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.out.starts_with("Recovered a profiler trace of "));
  REQUIRE(ended.err.starts_with("warning: cut.json: damaged: truncated 1 "));
  REQUIRE(workplace.stowage("replay none.json").code == 2);
}
