// Facts about a real memory timeline and execution trace, and about the profiles that recordings give.
#include "tests/catch.h"
#include "tests/traces/external_recordings.h"
#include "traces/import/import_profile.h"

using namespace stowage;

TEST_CASE("a memory timeline with labelled activations") {
  const auto report = tests::imported("memory_timeline_resnet50.raw.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->memory->account.peak.value / 1048576.0 == Approx(2940.02).margin(0.005));
  REQUIRE(report->memory->at_peak.at(0).owner == "activation");
  REQUIRE(report->memory->at_peak.at(0).bytes.value / 1048576.0 == Approx(2472.37).margin(0.005));
}

TEST_CASE("an execution trace saves the same bytes as the profiler's trace of the same model") {
  const auto nodes = tests::imported("et_resnet.json.gz");
  const auto events = tests::imported("kineto_v100_resnet50_2021.json.gz");
  if (!nodes || !events) return;
  REQUIRE(nodes->clean());
  REQUIRE(nodes->events == 14392);
  REQUIRE(nodes->steps.size() == 3);
  REQUIRE(nodes->found.blocks.size() == events->found.blocks.size());
  for (std::size_t i = 0; i < nodes->found.blocks.size(); ++i) {
    REQUIRE(nodes->found.blocks[i].bytes.saved == events->found.blocks[i].bytes.saved);
  }
}

TEST_CASE("every recording makes a profile that reads back") {
  if (!std::filesystem::exists(tests::recordings_folder())) {
    std::cout << "no recordings\n";
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(tests::recordings_folder())) {
    const Profile profile =
        profile_of(import_recording(entry.path().string(), {}), entry.path().filename().string());
    REQUIRE(parse_profile(to_json(profile)) == profile);
  }
}
