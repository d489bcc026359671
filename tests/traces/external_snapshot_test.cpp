// Facts about real memory snapshots, found out by other means.
#include "tests/catch.h"
#include "tests/traces/external_recordings.h"

using namespace stowage;

TEST_CASE("snapshots of a training step: 24 equal blocks, to the byte") {
  for (const auto& [name, saved, peak] :
       {std::tuple("snapshot_gpt_medium_ctx128.pickle.gz", 71421952, 7021691392),
        std::tuple("snapshot_gpt_medium_ctx512.pickle.gz", 290078720, 12435476996)}) {
    const auto report = tests::imported(name);
    if (!report) return;
    REQUIRE(report->clean());
    REQUIRE(report->found.blocks.size() == 24);
    for (const ImportedBlock& block : report->found.blocks) {
      REQUIRE(block.bytes.saved == Bytes{saved});
      REQUIRE(block.bytes.gradient > Bytes{67000000});
      REQUIRE(block.backward > Nanos{});
    }
    REQUIRE(report->memory->account.peak == Bytes{peak});
    REQUIRE(report->memory->account.unknown_frees == 438);
    REQUIRE(report->steps.size() == 1);
  }
}
