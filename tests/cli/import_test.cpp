// `stowage import`, run as a process.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/import_made_snapshot.h"
#include "tests/traces/import_made_trace.h"
#include "tests/traces/refusal.h"
#include "traces/machine.h"
#include "traces/profile.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Two layers of 300 us each, saving 4 KiB each; then two pinned copies over the link.
std::string made_recording() {
  MadeTrace trace;
  for (int i = 0; i < 2; ++i) {
    const long at = 1000 * (i + 1);
    trace.module("Layer_" + std::to_string(i), 1, at, 500).op("aten::mm", 1, at + 10, 100);
    trace.kernel("mm", 1, at + 20, at + 100, 300).memory(1, at + 30, 64 + i, 4096);
  }
  trace.copy("HtoD (Pinned -> Device)", 1, 4000, 4100, 1000, 10'000'000);
  trace.copy("HtoD (Pinned -> Device)", 1, 6000, 6100, 2000, 20'000'000);
  return trace.text();
}

const Workplace& with_recording(const Workplace& workplace) {
  workplace.write("trace.json", made_recording());
  return workplace;
}

}  // namespace

TEST_CASE("import answers with the agreed keys, and writes a profile that others read") {
  const Workplace workplace;
  const Ended ended = with_recording(workplace).stowage("import trace.json --json -o made.json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("format").string() == "kineto");
  REQUIRE(answer.at("recovered").keys().empty());
  const auto blocks = answer.at("blocks").items();
  REQUIRE(blocks.size() == 2);
  REQUIRE(blocks[1].at("name").string() == "Layer_1");
  REQUIRE(blocks[1].at("forward_ns").integer() == 300'000);
  REQUIRE(blocks[1].at("backward_ns").integer() == 0);
  REQUIRE(blocks[1].at("saved_bytes").integer() == 4096);
  REQUIRE(blocks[1].at("count").integer() == 1);
  // 600 us of kernels in blocks, 3000 us of copies
  REQUIRE(answer.at("explained").number(0, 1) == Approx(600.0 / 3600.0));
  REQUIRE(answer.at("steps").items().size() == 1);
  REQUIRE(answer.at("peak_bytes").integer() == 8192);
  const JsonNode link = answer.at("links").at("h2d");
  REQUIRE(link.at("bytes_per_second").integer() == 10'000'000'000);
  REQUIRE(link.at("samples").integer() == 2);
  const Profile profile = read_profile(workplace.path("made.json"));
  REQUIRE(profile.name == "trace");
  REQUIRE(profile.blocks.size() == 2);
  REQUIRE(workplace.stowage("simulate made.json --machine machine.json").code == 0);
}

TEST_CASE("blocks that explain next to nothing are not praised") {
  MadeTrace trace;
  for (int i = 0; i < 8; ++i) trace.op("aten::mm", 1, 10 * i, 5).op("aten::add", 1, 10 * i + 5, 5);
  const Workplace workplace;
  workplace.write("trace.json", trace.op("aten::sort", 1, 100, 9'920).text());  // 80 us of 10 ms
  const Ended ended = workplace.stowage("import trace.json");
  REQUIRE(ended.code == 0);  // nothing is wrong with the recording
  REQUIRE(ended.err.find("warning: trace.json: what repeats explains 0.8 % of the time") !=
          std::string::npos);
  REQUIRE(ended.out.find("but hardly the model's: they explain only 0.8 % of the host's time") !=
          std::string::npos);
}

TEST_CASE("import reads a pipe, and steers by a pattern") {
  const Workplace workplace;
  with_recording(workplace);
  for (const char* pipe : {"-", "/dev/stdin"}) {
    const Ended ended = workplace.stowage("import --json " + std::string(pipe) + " --blocks 'Layer_1'",
                                          "gzip -c trace.json | cat |");
    REQUIRE(ended.code == 0);
    REQUIRE(ended.json().at("found_by").string() == "pattern");
    REQUIRE(ended.json().at("blocks").items().size() == 1);
  }
}

TEST_CASE("a pattern that matches nothing is told") {
  const Workplace workplace;
  const Ended ended = with_recording(workplace).stowage("import trace.json --json --blocks '^Decoder'");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.json().at("blocks").items().empty());
  REQUIRE(ended.err == "warning: --blocks: matches no range, module or operator\n");
  workplace.write("levels.json", "[[-1, 1, 100, 0], [5, 2, 30, 4], [6, 3, -30, 4]]");
  REQUIRE(workplace.stowage("import levels.json --blocks x").err ==
          "warning: --blocks: has no effect on this format, which names none\n");
}

TEST_CASE("a recovered recording is told from a clean one by the exit code, and by where it is damaged") {
  const Workplace workplace;
  const std::string whole = made_recording();
  workplace.write("cut.json", whole.substr(0, whole.size() - 20));  // in the middle of the last event
  const Ended ended = workplace.stowage("import cut.json --json -o made.json");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.json().at("recovered").at("truncated").integer() == 1);
  REQUIRE(ended.json().at("blocks").items().size() == 2);
  REQUIRE(ended.err == "warning: cut.json: damaged: truncated 1 (first at byte " +
                           std::to_string(whole.rfind("{\"ph\"")) + ")\n");  // where that event begins
  REQUIRE(workplace.holds("made.json"));
}

TEST_CASE("of figures that may be wrong no profile is made, and the exit code says so") {
  // Each block makes 100 B and 50 B and keeps neither until the backward: it must be run again in it.
  MadeSnapshot made;
  for (int block = 0; block < 3; ++block) {
    const std::int64_t own = 100 * (block + 1);
    made.allocate(own, 100, {101, 20}).allocate(own + 1, 50, {102, 20}).allocate(own + 2, 28, {103, 20});
    made.free(own, 100).free(own + 1, 50);
  }
  made.allocate(1, 16, {30});
  for (int block = 2; block >= 0; --block) made.allocate(2, 40).free(2, 40).free(100 * (block + 1) + 2, 28);
  const Workplace workplace;
  workplace.write("made.pickle", made.bytes());
  const Ended ended = workplace.stowage("import made.pickle --json -o made.json");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.err.find("warning: made.pickle: not understood: blocks keep nothing") != std::string::npos);
  REQUIRE(ended.json().at("doubts").items().size() == 1);
  REQUIRE(ended.json().at("recovered").keys().empty());
  REQUIRE(!workplace.holds("made.json"));
  const Ended replay = workplace.stowage("replay made.pickle --json");
  REQUIRE(replay.code == 1);
  REQUIRE(replay.json().at("settings").items().empty());
  REQUIRE(replay.json().at("simulated").at("peak_bytes").is_null());
  REQUIRE(replay.json().at("recorded").at("peak_bytes").integer() == 234);  // 2 * 28 + 100 + 50 + 28
}

TEST_CASE("import tells people what it found, and how") {
  const Workplace workplace;
  const std::string out = with_recording(workplace).stowage("import trace.json").out;
  REQUIRE(out.starts_with("Read a profiler trace of 14 events, 1 step of 7.00 ms.\n"));
  REQUIRE(out.find("2 blocks, found by the calls of modules; they explain 17 % of the device's time.") !=
          std::string::npos);
  REQUIRE(out.find("fitted to the device, pinned: 9.31 GiB/s after 0 ns, off by 0.0 % in the middle of 2 "
                   "copies") != std::string::npos);
}

TEST_CASE("a machine is fitted to the copies; what the recording does not tell is asked for") {
  const Workplace workplace;
  const std::string import = "import trace.json --machine-output fitted.json ";
  Ended ended = with_recording(workplace).stowage(import);
  REQUIRE(ended.code == 2);
  REQUIRE(ended.err.starts_with("stowage: --vram: needed for a machine file"));
  REQUIRE(!workplace.holds("fitted.json"));
  ended = workplace.stowage(import + "--vram 24GiB --host-ram 64GiB");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err.find("copies to the host go as fast as the other way") != std::string::npos);
  const Machine machine = read_machine(workplace.path("fitted.json"));
  REQUIRE(machine.links.h2d.rate.bytes_per_second == 10'000'000'000);
  REQUIRE(machine.links.d2h == machine.links.h2d);
  REQUIRE(machine.host.memory == Bytes{64LL << 30});
}

TEST_CASE("what is no recording is refused in one line") {
  const Workplace workplace;
  workplace.write("bad.json", "not a recording");
  workplace.write("empty.json", "");
  for (const char* file : {"bad.json", "empty.json", "none.json", ".", "profile.json"}) {
    const Ended ended = workplace.stowage("import --json " + std::string(file));
    INFO(file << ": " << ended.err);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.out == "");
    REQUIRE(ended.err.starts_with("stowage: " + std::string(file) + ": "));
    REQUIRE(ended.err.find('\n') == ended.err.size() - 1);
  }
  with_recording(workplace);
  const Ended ended = workplace.stowage("import trace.json --blocks '['");
  REQUIRE(ended.code == 2);
  REQUIRE(ended.err.starts_with("stowage: --blocks: "));
}

TEST_CASE("hostile pickles are refused within a second of the processor's time, and in bounded memory") {
  const Workplace workplace;
  std::string bomb =
      "]\x94K\x01"
      "a0";  // each list holds the one before it ten times
  for (char level = 0; level < 30; ++level) {
    bomb += "](";
    for (int i = 0; i < 10; ++i) bomb += std::string("h") + level;
    bomb += "e\x94";
    if (level < 29) bomb += '0';
  }
  const std::string hostile[] = {
      "cos\nsystem\n(X\x02" + std::string(3, '\0') + "lstR",
      bomb,
      std::string(20'000'000, ']'),
      std::string(20'000'000, '('),
      "N" + std::string(20'000'000, '\x94'),  // the same value into the memo again and again
      "X" + std::string("\x01\x00\x00\x01", 4) + std::string(20'000'000, 'x'),
      "X\xff\xff\xff\xff",
      "\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"};
  // Of what it writes to: code that is only mapped, such as a library, does not count.
  for (const std::string& instructions : hostile) {
    workplace.write("hostile.pickle", "\x80\x04" + instructions + ".");
    const Ended ended = workplace.stowage("import hostile.pickle", "ulimit -t 1; ulimit -d 400000;");
    INFO(ended.err);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.err.starts_with("stowage: hostile.pickle: "));
  }
}
