// Wrong input: one line that names file, key and reason, exit code 2, nothing on standard output, nothing
// half-written.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/refusal.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

const std::string with_example = "simulate profile.json --machine machine.json ";

// The line, without "stowage: " and the end of the line.
std::string refused(const Ended& ended) {
  INFO("standard output: " << ended.out << "\nstandard error: " << ended.err);
  REQUIRE(ended.code == 2);
  REQUIRE(ended.out == "");
  REQUIRE(ended.err.starts_with("stowage: "));
  REQUIRE(ended.err.find('\n') == ended.err.size() - 1);
  return ended.err.substr(9, ended.err.size() - 10);
}

}  // namespace

TEST_CASE("a missing file") {
  const Workplace workplace;
  REQUIRE(refused(workplace.stowage("simulate none.json --machine machine.json")) ==
          "none.json: cannot read: No such file or directory");
  REQUIRE(refused(workplace.stowage("simulate profile.json --machine none.json --json")) ==
          "none.json: cannot read: No such file or directory");
  REQUIRE(refused(workplace.stowage("compare profile.json none.json")).starts_with("profile.json: format: "));
}

TEST_CASE("truncated JSON") {
  const Workplace workplace;
  const std::string whole = workplace.read("profile.json");
  workplace.write("profile.json", whole.substr(0, whole.size() / 2));
  REQUIRE(refused(workplace.stowage(with_example)).starts_with("profile.json: "));
}

TEST_CASE("an unknown key") {
  const Workplace workplace;
  workplace.write("profile.json", changed(workplace.read("profile.json"), "weight_bytes", "wait_bytes"));
  REQUIRE(refused(workplace.stowage(with_example)).starts_with("profile.json: blocks[0].wait_bytes: "));
}

TEST_CASE("a stride below its interval") {
  REQUIRE(refused(Workplace().stowage(with_example + "--policy recompute --interval 3 --stride 2")) ==
          "--stride: must be at least the interval: 2 < 3");
}

TEST_CASE("recomputing a scope that was not timed") {
  REQUIRE(refused(Workplace().stowage(with_example + "--policy recompute --scope ffn"))
              .starts_with("--scope: the profile has no scope_forward_ns of ffn for block 0"));
}

TEST_CASE("a negative budget, and sizes that are none") {
  const Workplace workplace;
  for (const char* flag :
       {"--vram -5", "--vram=-1GiB", "--vram 24G", "--vram 1e9", "--vram ''", "--vram 9EiB",
        "--vram 8388608TiB", "--vram 1.2.3GiB", "--host-ram -1", "--pinned-max -1"}) {
    INFO(flag);
    REQUIRE(refused(workplace.stowage(with_example + flag)).starts_with("--"));
  }
  REQUIRE(refused(workplace.stowage(with_example + "--vram -5")) ==
          "--vram: expected a size such as 24GiB, 24GB or 25769803776 that is not negative, not \"-5\"");
}

TEST_CASE("less memory than is reserved") {
  const Workplace workplace;
  workplace.write("machine.json", changed(workplace.read("machine.json"), "\"reserved_bytes\": 0",
                                          "\"reserved_bytes\": 1024"));
  REQUIRE(
      refused(workplace.stowage(with_example + "--vram 1000")).starts_with("--vram: less than the 1.00 KiB"));
  REQUIRE(workplace.stowage(with_example + "--vram 1241").code == 0);  // 1024 + 217
  REQUIRE(workplace.stowage(with_example + "--vram 1240").code == 1);
}

TEST_CASE("settings out of range or unknown") {
  const Workplace workplace;
  REQUIRE(refused(workplace.stowage(with_example + "--policy forget")) ==
          "--policy: expected one of keep, recompute, offload, recompute+offload, not \"forget\"");
  REQUIRE(refused(workplace.stowage(with_example + "--interval 0")) ==
          "--interval: expected an integer of at least 1, not \"0\"");
  REQUIRE(refused(workplace.stowage(with_example + "--prefetch 1.5")).starts_with("--prefetch: "));
  REQUIRE(refused(workplace.stowage(with_example + "--prefetch 99999999999999999999"))
              .starts_with("--prefetch: "));
  REQUIRE(refused(workplace.stowage(with_example + "--colour=red")) ==
          "The following argument was not expected: --colour=red; see stowage simulate --help");
  REQUIRE(refused(workplace.stowage("simulate profile.json")) ==
          "--machine is required; see stowage simulate --help");
  REQUIRE(refused(workplace.stowage("stow")).ends_with("see stowage --help"));
  REQUIRE(refused(workplace.stowage("")).ends_with("see stowage --help"));
}

TEST_CASE("a full disk: the error is told, and nothing half-written is left") {
  const Workplace workplace;
  REQUIRE(refused(workplace.stowage(with_example + "-o /dev/full")) ==
          "/dev/full: cannot write: No space left on device");
  const Ended told = workplace.stowage(with_example + "--json >/dev/full");
  REQUIRE(refused(told) == "standard output: cannot write: No space left on device");
  // A limit on the size of files stands in for a disk that fills while a file is written.
  workplace.write("timeline.json", "as it was");
  const std::size_t files = workplace.size();
  const std::string full = "trap '' XFSZ; ulimit -f 1;";
  REQUIRE(refused(workplace.stowage("simulate profile.json --machine machine.json -o timeline.json", full)) ==
          "timeline.json: cannot write: File too large");
  REQUIRE(workplace.read("timeline.json") == "as it was");
  REQUIRE(workplace.size() == files);
}

TEST_CASE("a folder that is not there, and a folder in the place of a file") {
  const Workplace workplace;
  REQUIRE(refused(workplace.stowage(with_example + "-o none/timeline.json")) ==
          "none/timeline.json: cannot write: No such file or directory");
  REQUIRE(refused(workplace.stowage("simulate . --machine machine.json")).starts_with(".: cannot read: "));
}
