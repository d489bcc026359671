#include "tests/catch.h"
#include "tests/traces/import_made_snapshot.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr int embedding = 10, loop = 20, head = 30;  // lines of the model's forward

// The forward of three blocks, each of two lines that keep 100 B and 28 B, and that need 50 B for a while.
// Then the loss; then the backward, where each block makes a gradient of 7 B.
MadeSnapshot training_step(std::int64_t base = 0, MadeSnapshot made = {}) {
  made.allocate(base + 1, 64, {1, embedding});
  for (int block = 0; block < 3; ++block) {
    const std::int64_t own = base + 100 * (block + 1);
    made.allocate(own, 100, {5, 101, loop}).allocate(own + 1, 50, {6, 101, loop}).wait(10).free(own + 1, 50);
    made.allocate(own + 2, 28, {102, loop}).wait(20);
  }
  made.allocate(base + 2, 16, {3, head}).wait(5);
  for (int block = 2; block >= 0; --block) {
    const std::int64_t own = base + 100 * (block + 1);
    made.free(own + 2, 28)
        .allocate(own + 3, 7)
        .allocate(own + 4, 40)
        .wait(30)
        .free(own + 4, 40)
        .free(own, 100);
  }
  return made.free(base + 1, 64).free(base + 2, 16);
}

}  // namespace

TEST_CASE("blocks are the lines of the forward that come round again") {
  const ImportReport report = training_step().block(21, "active_allocated").import();
  REQUIRE(report.format == RecordingFormat::memory_snapshot);
  REQUIRE(report.clean());
  REQUIRE(report.found.how == FoundBy::frames);
  REQUIRE(report.found.blocks.size() == 3);
  for (const ImportedBlock& block : report.found.blocks) {
    REQUIRE(block.bytes.saved == Bytes{128});  // 100 + 28
    REQUIRE(block.bytes.output == Bytes{28});
    REQUIRE(block.bytes.forward_workspace == Bytes{22});  // 100 + 50 - 128
    REQUIRE(block.bytes.gradient == Bytes{7});
    REQUIRE(block.bytes.backward_rise == Bytes{47});  // 7 + 40
  }
  REQUIRE(report.found.blocks[1].forward == Nanos{34000});   // four entries and two waits, 10 and 20
  REQUIRE(report.found.blocks[1].backward == Nanos{35000});  // five entries and a wait of 30
  // 64 + 3 * 128 + 16 at the loss, and 19 more when the last block runs backward
  REQUIRE(report.memory->account.start == Bytes{});
  REQUIRE(report.memory->account.peak == Bytes{483});
  REQUIRE(report.steps.size() == 1);
  REQUIRE(report.steps[0].peak == Bytes{483});
  REQUIRE(report.memory->at_peak.at(0).bytes == Bytes{128});
}

TEST_CASE("several steps are told apart from several blocks") {
  const ImportReport report = training_step(5000, training_step()).block(42, "active_allocated").import();
  REQUIRE(report.steps.size() == 2);
  REQUIRE(report.found.blocks.size() == 3);
  REQUIRE(report.found.blocks[2].bytes.saved == Bytes{128});
  REQUIRE(report.found.blocks[2].passes.size() == 2);
  REQUIRE(report.found.blocks[2].passes[1].ran);
  REQUIRE(report.steps[1].peak == Bytes{504});  // 483 above the 21 of the first step's gradients
}

TEST_CASE("a pattern says which frames are a block's") {
  MadeSnapshot made = training_step();
  made.block(21, "active_allocated");
  // The lines 101 and 102 are a block's, 10 and 30 the embedding's and the head's.
  const ImportReport blocks = made.import({.blocks = "model.py:10[12]:forward$"});
  REQUIRE(blocks.found.how == FoundBy::pattern);
  REQUIRE(blocks.found.blocks.size() == 3);
  REQUIRE(blocks.found.blocks[1].bytes.saved == Bytes{128});
  REQUIRE(blocks.steps.size() == 1);
  // The first line is enough: a block lasts until the next one's.
  const ImportReport first_lines = made.import({.blocks = ":101:"});
  REQUIRE(first_lines.found.blocks.size() == 3);
  REQUIRE(first_lines.found.blocks[0].bytes.saved == Bytes{128});
  REQUIRE(made.import({.blocks = "decoder"}).found.how == FoundBy::nothing);
  REQUIRE_THROWS_AS(made.import({.blocks = "["}), InputError);
}

TEST_CASE("what the loss needs is told from the forward and the backward around it") {
  // 16 B of the head, while 64 B of the embedding are there before and after
  REQUIRE(training_step().import().steps[0].loss_rise == Bytes{16});
}

TEST_CASE("what was alive before is found from what is alive in the end") {
  // 1000 B stay; of 300 B from before one part of 200 is freed in view.
  const ImportReport report = MadeSnapshot()
                                  .allocate(1, 50)
                                  .free(77, 200)
                                  .free(1, 50)
                                  .block(1000, "active_allocated")
                                  .block(100, "active_pending_free")
                                  .block(500, "inactive")
                                  .import();
  REQUIRE(report.memory->account.start == Bytes{1300});  // 1100 in the end, and 200
  REQUIRE(report.memory->account.peak == Bytes{1350});
  REQUIRE(report.memory->account.end == Bytes{1100});
  REQUIRE(report.memory->account.unknown_frees == 1);
  REQUIRE(report.memory->segments.at(2).bytes == Bytes{500});
}

TEST_CASE("a free that was there already changes nothing") {
  const ImportReport report = MadeSnapshot()
                                  .allocate(1, 100)
                                  .allocate(2, 20)
                                  .free(2, 20)
                                  .free(9, 0)
                                  .free(1, 100)
                                  .free(1, 100)
                                  .import();
  REQUIRE(report.memory->account.peak == Bytes{120});
  REQUIRE(report.memory->account.unknown_frees == 1);
  REQUIRE(report.memory->account.double_frees == 1);
  REQUIRE(report.memory->account.end == Bytes{});
}

TEST_CASE("segments as the allocator took and returned them") {
  const ImportReport report = MadeSnapshot()
                                  .entry("segment_alloc", 1, 2000, pickled_list({}))
                                  .allocate(1, 50)
                                  .entry("segment_free", 2, 700, pickled_list({}))
                                  .entry("oom", 0, 9000, pickled_list({}))
                                  .entry("snapshot", 0, 0, pickled_list({}))
                                  .block(50, "active_allocated")
                                  .block(2950, "inactive")
                                  .import();
  std::vector<Bytes> levels;
  for (const MemorySample& sample : report.memory->reserved) levels.push_back(sample.bytes);
  REQUIRE(levels == std::vector<Bytes>{{1700}, {3700}, {3000}});  // 3000 in the end, and back
  REQUIRE(report.notes.size() == 3);  // host times, out of memory, an entry not about memory
}

TEST_CASE("of a history that was cut the level before is not known") {
  const MadeSnapshot made =
      MadeSnapshot().allocate(1, 50).allocate(2, 70).free(77, 200).block(1000, "active_allocated");
  REQUIRE(made.import().memory->account.start == Bytes{1080});  // 1000 + 200 - 120
  const std::string whole = made.bytes();
  const std::string cut = whole.substr(0, whole.find("free_requested"));
  const ImportReport report = import_recording(*open_bytes(std::span(cut)), "cut.pickle", {});
  REQUIRE(report.repairs[Repair::truncated].count == 1);
  REQUIRE(report.events == 2);
  REQUIRE(report.memory->account.start == Bytes{});
  REQUIRE(report.memory->account.peak == Bytes{120});
  REQUIRE(report.memory->reserved.empty());
}

TEST_CASE("a snapshot without a history still says what is held") {
  const ImportReport report = MadeSnapshot().block(300, "active_allocated").block(700, "inactive").import();
  REQUIRE(report.memory->account.peak == Bytes{300});
  REQUIRE(report.found.blocks.empty());
  REQUIRE(report.steps.empty());
}

TEST_CASE("a pickle that is no snapshot is refused with the key") {
  const auto refused = [](const std::string& instructions) {
    const std::string whole = pickle_of(instructions);
    try {
      import_recording(*open_bytes(std::span(whole)), "x.pickle", {});
    } catch (const InputError& error) {
      REQUIRE(error.source() == "x.pickle");
      return error.path();
    }
    return std::string("accepted");
  };
  REQUIRE(refused(pickled_list({})) == "segments");
  REQUIRE(refused(pickled_dictionary({{"segments", pickled(1)}})) == "segments");
  REQUIRE(refused(pickled_dictionary({{"segments", pickled_list({pickled(1)})}})) == "segments[0]");
  REQUIRE(refused("cos\nsystem\n.") == "byte 2");
}
