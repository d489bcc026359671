// What `stowage doctor` reads from a machine's own words.
#include <string>

#include "cli/machine_facts.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr const char* memory =
    "MemTotal:       65843208 kB\nMemFree: 1 kB\nMemAvailable:   60000000 kB\nCached:  1000 kB\nDirty: 4 "
    "kB\n";

MachineFinding finding_of(const MachineFacts& facts, const std::string& topic) {
  for (const MachineFinding& finding : examine(facts))
    if (finding.topic == topic) return finding;
  throw std::logic_error("no such topic");
}

}  // namespace

TEST_CASE("figures of the system's own texts") {
  REQUIRE(meminfo_value(memory, "MemTotal:") == Bytes{65843208LL * 1024});
  REQUIRE(!meminfo_value(memory, "Swap:"));
  REQUIRE(!meminfo_value("MemTotal: 99999999999999999999 kB", "MemTotal:"));
  REQUIRE(least_limit({"max\n", "8589934592\n", "17179869184\n", ""}) == Bytes{8589934592});
  REQUIRE(!least_limit({"max", "9223372036854771712"}));  // what version 1 says where there is none
  REQUIRE(cpu_share("150000 100000\n") == 1.5);
  REQUIRE(!cpu_share("max 100000\n"));
  REQUIRE(!cpu_share("1 0"));
  REQUIRE(is_wsl("Linux version 5.15.133.1-microsoft-standard-WSL2"));
  REQUIRE(!is_wsl("Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)"));
  REQUIRE(gpu_model("Model: \t\t NVIDIA L40S\nIRQ:   \t\t 57\n") == "NVIDIA L40S");
  REQUIRE(driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 "
                         "UTC 2023\nGCC version: 12.2.0") == "535.129.03");
  REQUIRE(driver_version("") == "");
}

TEST_CASE("a sound machine has nothing wrong") {
  MachineFacts facts;
  facts.meminfo = memory;
  facts.kernel = "Linux version 6.1.0";
  facts.memory_limits = {"max"};
  facts.gpus = {"Model: NVIDIA L40S\n"};
  facts.driver = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu";
  facts.torches = {"/opt/torch"};
  for (const MachineFinding& finding : examine(facts)) {
    CAPTURE(finding.topic);
    REQUIRE(finding.concern == Concern::none);
  }
}

TEST_CASE("what is wrong comes with what to do") {
  MachineFacts facts;
  facts.meminfo = memory;
  facts.memory_limits = {"8589934592"};
  facts.kernel = "microsoft-standard-WSL2";
  REQUIRE(finding_of(facts, "container").concern == Concern::wrong);
  REQUIRE(finding_of(facts, "container").advice.find("--host-ram 8589934592") != std::string::npos);
  REQUIRE(finding_of(facts, "pinned memory").concern == Concern::wrong);
  facts.gpus = {"Model: NVIDIA L40S\n"};
  REQUIRE(finding_of(facts, "driver").concern == Concern::wrong);
  facts.meminfo = "MemTotal: 64000000 kB\nMemAvailable: 1000000 kB\n";
  REQUIRE(finding_of(facts, "host memory").concern == Concern::note);
  for (const MachineFinding& finding : examine(facts))
    REQUIRE((finding.concern == Concern::none || finding.advice != ""));
}

TEST_CASE("doctor answers on this machine") {
  const Ended ended = Workplace().stowage("doctor --json");
  REQUIRE((ended.code == 0 || ended.code == 1));
  REQUIRE(ended.json().at("findings").items().size() == 8);
}
