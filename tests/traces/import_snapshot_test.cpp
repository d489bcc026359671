#include "tests/catch.h"
#include "tests/traces/import_made_pickle.h"
#include "traces/error.h"
#include "traces/import/import.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

std::string frame(const std::string& function, int line) {
  return pickled_dictionary(
      {{"name", pickled(function)}, {"filename", pickled("model.py")}, {"line", pickled(line)}});
}

// A snapshot made entry by entry; each comes a microsecond after the one before.
class MadeSnapshot {
 public:
  // The stack: functions "forward" at these lines, innermost first, within a training script.
  MadeSnapshot& allocate(std::int64_t address, std::int64_t bytes, const std::vector<int>& lines = {}) {
    std::vector<std::string> frames = {frame("malloc", 1)};
    for (const int line : lines) {
      frames.push_back(frame("forward", line));
      frames.push_back(frame("_call_impl", 1790));
    }
    frames.push_back(frame("<module>", 3));
    return entry("alloc", address, bytes, pickled_list(frames));
  }
  MadeSnapshot& free(std::int64_t address, std::int64_t bytes) {
    entry("free_requested", address, bytes, pickled_list({}));
    --at_;
    return entry("free_completed", address, bytes, pickled_list({}));
  }
  MadeSnapshot& entry(const std::string& action, std::int64_t address, std::int64_t bytes,
                      const std::string& frames) {
    entries_.push_back(pickled_dictionary({{"action", pickled(action)},
                                           {"addr", pickled(address)},
                                           {"size", pickled(bytes)},
                                           {"stream", pickled(0)},
                                           {"time_us", pickled(at_++)},
                                           {"frames", frames}}));
    return *this;
  }
  MadeSnapshot& wait(std::int64_t micros) {
    at_ += micros;
    return *this;
  }
  MadeSnapshot& block(std::int64_t bytes, const std::string& state) {
    blocks_.push_back(pickled_dictionary({{"size", pickled(bytes)}, {"state", pickled(state)}}));
    held_ += bytes;
    return *this;
  }

  ImportReport import() const {
    const std::string segment = pickled_dictionary({{"device", pickled(0)},
                                                    {"segment_type", pickled("large")},
                                                    {"total_size", pickled(held_)},
                                                    {"blocks", pickled_list(blocks_)}});
    const std::string whole = pickle_of(
        pickled_dictionary({{"segments", pickled_list({segment})},
                            {"device_traces", pickled_list({pickled_list({}), pickled_list({})})},
                            {"device_traces", pickled_list({pickled_list(entries_), pickled_list({})})}}));
    return import_recording(*open_bytes(std::span(whole)), "made.pickle", {});
  }

 private:
  std::int64_t at_ = 1000, held_ = 0;
  std::vector<std::string> entries_, blocks_;
};

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
    REQUIRE(block.bytes.backward_rise == Bytes{19});  // -28 + 7 + 40
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
