// What steps make of their time, and blocks that were recomputed together.
#include "tests/catch.h"
#include "tests/traces/import_made_trace.h"
#include "traces/import/import_machine.h"
#include "traces/import/import_profile.h"

using namespace stowage;
using stowage::tests::MadeTrace;

namespace {

constexpr Nanos microseconds(std::int64_t count) {
  return {count * 1000};
}

}  // namespace

// The host marks [0, 100) and [100, 200); the device runs behind:
//
//   compute     [150, 180)  [190, 200)           [250, 300)
//   collective       [170, 195)
//   copy                            [210, 220)
TEST_CASE("a step lasts on the device until the next one's work begins") {
  MadeTrace trace;
  trace.annotation("ProfilerStep#1", 5, 0, 100).annotation("ProfilerStep#2", 5, 100, 100);
  trace.kernel("a", 5, 10, 150, 30)
      .kernel("ncclDevKernel_AllReduce", 5, 15, 170, 25)
      .kernel("b", 5, 20, 190, 10);
  trace.copy("HtoD (Pinned -> Device)", 5, 30, 210, 10, 1000).kernel("c", 5, 110, 250, 50);
  const ImportReport report = trace.import();
  REQUIRE(report.time->use.size() == 2);
  const StepUse& first = report.time->use[0];
  REQUIRE(first.length() == microseconds(100));  // [150, 250)
  REQUIRE(first.busy == microseconds(60));       // [150, 200) and [210, 220)
  REQUIRE(first.idle == microseconds(40));
  REQUIRE(first.compute == microseconds(40));  // [150, 180) and [190, 200)
  REQUIRE(first.crossing == microseconds(10));
  REQUIRE(first.hidden == Nanos{});
  REQUIRE(report.time->use[1].length() == microseconds(50));
  REQUIRE(report.steps[0].end == microseconds(100));  // as the host marked it
}

// The host marks [0, 100). Of the device's work it asked for the second kernel only, which outlasts the mark:
//
//   from before [20, 50)        step's own [90, 130)
TEST_CASE("a single step ends with its own work, and what was launched before is not its compute") {
  MadeTrace trace;
  trace.annotation("ProfilerStep#1", 5, 0, 100);
  trace.next_correlation().orphan("kernel", "from the step before", 20, 30, "");
  trace.kernel("own", 5, 60, 90, 40);
  const ImportReport report = trace.import();
  REQUIRE(report.time->use.size() == 1);
  const StepUse& use = report.time->use[0];
  REQUIRE(use.length() == microseconds(130));
  REQUIRE(use.busy == microseconds(70));  // 30 + 40
  REQUIRE(use.compute == microseconds(40));
  REQUIRE(report.steps[0].end == microseconds(100));  // as the host marked it
}

TEST_CASE("copies over the link are told by size") {
  MadeTrace trace;
  trace.copy("HtoD (Pinned -> Device)", 5, 0, 100, 100, 1'000'000);
  trace.copy("HtoD (Pinned -> Device)", 5, 0, 300, 50, 1'000'000);
  trace.copy("HtoD (Pinned -> Device)", 5, 0, 500, 1, 8);
  const ImportReport report = trace.import();
  REQUIRE(report.copies->classes.size() == 2);
  const CopyClass &small = report.copies->classes[0], &large = report.copies->classes[1];
  REQUIRE(small.largest == Bytes{8});
  REQUIRE(!small.rate);  // one whole microsecond says little
  REQUIRE(large.count == 2);
  REQUIRE(large.bytes == Bytes{2'000'000});
  REQUIRE(large.rate->bytes_per_second == 10'000'000'000);  // the lower of 10 and 20 GB/s
}

TEST_CASE("small copies tell no rate, and so no machine") {
  const ImportReport report = MadeTrace().copy("DtoH (Device -> Pinned)", 5, 0, 100, 20, 1).import();
  REQUIRE(report.copies->links.empty());
  REQUIRE(!machine_of(report).links);
}

TEST_CASE("a machine takes what was recorded, and says what stands in for the rest") {
  MadeTrace trace;
  trace.copy("HtoD (Pageable -> Device)", 5, 0, 100, 1000, 2'000'000);
  trace.copy("DtoH (Device -> Pinned)", 5, 0, 2000, 1000, 8'000'000);
  const RecordedMachine machine = machine_of(trace.import());
  REQUIRE(machine.links->d2h.rate.bytes_per_second == 8'000'000'000);
  REQUIRE(machine.links->h2d.rate.bytes_per_second == 2'000'000'000);
  REQUIRE(machine.links->pageable.bytes_per_second == 2'000'000'000);
  REQUIRE(machine.assumptions.size() == 2);  // pinned as pageable; no interference
  REQUIRE(!machine.device_memory);
}

TEST_CASE("a peak at which the blocks hold little is not the loss's") {
  ImportReport report;
  report.found.blocks.resize(2);
  for (ImportedBlock& block : report.found.blocks) block.bytes.saved = {100};
  report.memory.emplace();
  report.memory->account.peak = {1000};
  report.memory->account.owners = {{100}, {90}};
  REQUIRE(peaks_with_blocks(report));
  REQUIRE(profile_of(report, "x").fixed.epilogue_bytes == Bytes{800});  // 1000 - 2 * 100
  REQUIRE(profile_of(report, "x").fixed.epilogue == Nanos{1});          // what takes no time holds no memory
  report.memory->account.owners = {{0}, {90}};
  REQUIRE(!peaks_with_blocks(report));
  REQUIRE(profile_of(report, "x").fixed.epilogue_bytes == Bytes{});
}

TEST_CASE("a copy that took no time takes what the others' rate says") {
  MadeTrace trace;
  for (const long at : {100, 2000}) trace.copy("HtoD (Pinned -> Device)", 5, 0, at, 1000, 10'000'000);
  trace.copy("HtoD (Pinned -> Device)", 5, 0, 4000, 0, 5'000'000);
  const ImportReport report = trace.import();
  const CopyTraffic& traffic = report.copies->traffic.at(0);
  REQUIRE(report.repairs[Repair::zero_duration].count == 1);
  REQUIRE(traffic.untimed == 1);
  REQUIRE(traffic.time == microseconds(2500));  // two of 1 ms; 5 MB at 10 GB/s
}
