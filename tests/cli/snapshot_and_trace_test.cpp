// One training step, recorded as a memory snapshot and as a profiler trace: one profile, one plan.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/import_made_snapshot.h"
#include "tests/traces/import_made_trace.h"
#include "traces/profile.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr int recorded_blocks = 6;

// What becomes of the blocks' saved tensors: kept, or made again in the backward, each block by itself.
enum class Recording { keeping, checkpointing };

// The step, in both recordings at once. The host asks for something each microsecond.
class TwiceRecorded {
 public:
  // `output_goes`: nothing holds the last block's output beyond the loss.
  explicit TwiceRecorded(int blocks = recorded_blocks, bool output_goes = true,
                         Recording recording = Recording::keeping)
      : recording_(recording) {
    allocate(forward, 1, output, {embedding});
    for (int block = 0; block < blocks; ++block) record_forward(block);
    allocate(forward, 2, 3000, {head});  // what the loss needs
    allocate(forward, address(blocks - 1, 4), output);
    release(forward, 2, 3000);
    if (output_goes) release(forward, address(blocks - 1, 2), output);
    for (int block = blocks - 1; block >= 0; --block) record_backward(block);
    for (int block = 0; block < blocks; ++block) release(forward, address(block, 3), gradient);
    if (!output_goes) snapshot_.block(output, "active_allocated");
  }

  std::string snapshot() const { return snapshot_.bytes(); }
  std::string trace() const { return trace_.text(); }

 private:
  static constexpr long output = 1000, saved = 40'000, workspace = 500, gradient = 200;
  static constexpr int forward = 5, backward = 6;  // threads
  static constexpr int embedding = 10, loop = 20, head = 30;

  static long address(int block, int which) { return 100 * (block + 1) + which; }

  void allocate(int thread, long address, long bytes, const std::vector<int>& lines = {}) {
    trace_.memory(thread, ++at_, address, bytes);
    snapshot_.at(at_).allocate(address, bytes, lines);
  }
  void release(int thread, long address, long bytes) {
    trace_.memory(thread, ++at_, address, -bytes);
    snapshot_.at(at_).free(address, bytes);
  }

  // 30 us on the device.
  void record_forward(int block) {
    const std::string number = R"("Sequence number": )" + std::to_string(block);
    ++at_;
    trace_.module("Layer_" + std::to_string(block), forward, at_, 6).op("aten::mm", forward, at_, 5, number);
    trace_.kernel("mm", forward, at_, 1000 + 30 * block, 30);
    allocate(forward, address(block, 0), saved, {101, loop});
    allocate(forward, address(block, 1), workspace, {101, loop});
    allocate(forward, address(block, 2), output, {102, loop});
    release(forward, address(block, 1), workspace);
    if (recording_ == Recording::checkpointing) release(forward, address(block, 0), saved);
    ++at_;
  }

  // 30 us more, inside the backward, until what was saved is there again: the output is not made.
  void run_again(int block) {
    ++at_;
    trace_.module("Layer_" + std::to_string(block), backward, at_, 4).op("aten::mm", backward, at_, 3);
    trace_.kernel("mm", backward, at_, 1990 - 100 * block, 30);
    for (const auto& [which, bytes] : {std::pair(0, saved), std::pair(1, workspace)}) {
      trace_.memory(backward, ++at_, address(block, which), bytes);
      snapshot_.at(at_).entry(
          "alloc", address(block, which), bytes,
          pickled_list({pickled_frame("malloc", 1), pickled_frame("forward", 101),
                        pickled_frame("recompute_fn", 1397), pickled_frame("unpack_hook", 1115)}));
    }
    release(backward, address(block, 1), workspace);
    ++at_;
  }

  // 60 us. The gradient of the block's output (4) is its input's of the next one.
  void record_backward(int block) {
    ++at_;
    const bool again = recording_ == Recording::checkpointing;
    trace_.op("autograd::engine::evaluate_function: MmBackward0", backward, at_, again ? 15 : 9,
              R"("Fwd thread id": 1, "Sequence number": )" + std::to_string(block));
    if (again) run_again(block);
    trace_.kernel("bwd", backward, at_, 2020 - (again ? 100 : 60) * block, 60);
    allocate(backward, address(block, 1), workspace);
    allocate(backward, address(block, 3), gradient);
    if (block > 0) allocate(backward, address(block - 1, 4), output);
    release(backward, address(block, 1), workspace);
    release(backward, address(block, 4), output);
    release(backward, address(block, 0), saved);
    release(backward, block > 0 ? address(block - 1, 2) : 1, output);
    at_ += 2;
  }

  Recording recording_;
  long at_ = 0;
  MadeTrace trace_;
  MadeSnapshot snapshot_;
};

const Workplace& with_both(const Workplace& workplace) {
  const TwiceRecorded step;
  workplace.write("step.pickle", step.snapshot());
  workplace.write("step.json", step.trace());
  return workplace;
}

Profile profile_from(const Workplace& workplace, const std::string& arguments) {
  const Ended ended = workplace.stowage("import -o made.json " + arguments);
  INFO(ended.err);
  REQUIRE(ended.code == 0);
  Profile profile = read_profile(workplace.path("made.json"));
  profile.name = "step";
  for (int i = 0; BlockProfile & block : profile.blocks) block.name = "block." + std::to_string(i++);
  return profile;
}

}  // namespace

TEST_CASE("a snapshot with the times of a trace is the trace's profile, and tunes to its plan") {
  const Workplace workplace;
  const Profile traced = profile_from(with_both(workplace), "step.json");
  const Profile snapped = profile_from(workplace, "step.pickle --times step.json");
  REQUIRE(traced.blocks.size() == recorded_blocks);
  REQUIRE(traced.blocks[1].times.forward == Nanos{30'000});
  REQUIRE(traced.blocks[1].sizes.backward_workspace == Bytes{500});
  REQUIRE(traced.fixed.epilogue_bytes == Bytes{3000});
  REQUIRE(to_json(snapped) == to_json(traced));
  workplace.write("traced.json", to_json(traced));
  workplace.write("snapped.json", to_json(snapped));
  // All is kept in 251,000 bytes: 6 * 40,000 are saved. Recomputed they take a block's at a time.
  std::vector<std::string> plans;
  for (const std::string budget : {"300000", "200000", "120000", "70000"}) {
    const std::string how = " --machine machine.json --json --vram " + budget;
    const Ended a = workplace.stowage("tune traced.json" + how),
                b = workplace.stowage("tune snapped.json" + how);
    REQUIRE(a.code == 0);
    REQUIRE(b.json().at("emitted").string() == a.json().at("emitted").string());
    REQUIRE(figure(b.json(), "peak_bytes") == figure(a.json(), "peak_bytes"));
    REQUIRE(figure(b.json(), "step_ns") == figure(a.json(), "step_ns"));
    plans.push_back(a.json().at("emitted").string());
  }
  REQUIRE(plans.front() == "--policy keep");
  REQUIRE(plans.back() != plans.front());
}

TEST_CASE("recorded under checkpointing both still give one profile, and one plan") {
  const Workplace workplace;
  const TwiceRecorded step(recorded_blocks, true, Recording::checkpointing);
  workplace.write("step.pickle", step.snapshot());
  workplace.write("step.json", step.trace());
  const Profile traced = profile_from(workplace, "step.json");
  const Profile snapped = profile_from(workplace, "step.pickle --times step.json");
  const Profile kept = profile_from(with_both(workplace), "step.json");
  for (std::size_t i = 0; i < recorded_blocks; ++i) {
    REQUIRE(saved_bytes(traced.blocks[i]) == saved_bytes(kept.blocks[i]));
    REQUIRE(snapped.blocks[i].sizes == traced.blocks[i].sizes);
    REQUIRE(saved_bytes(snapped.blocks[i]) == saved_bytes(traced.blocks[i]));
    REQUIRE(traced.blocks[i].times.backward == Nanos{60'000});  // without the second forward
  }
  workplace.write("traced.json", to_json(traced));
  workplace.write("snapped.json", to_json(snapped));
  for (const std::string budget : {"300000", "200000", "120000", "70000"}) {
    const std::string how = " --machine machine.json --json --vram " + budget;
    const JsonNode a = workplace.stowage("tune traced.json" + how).json(),
                   b = workplace.stowage("tune snapped.json" + how).json();
    REQUIRE(b.at("emitted").string() == a.at("emitted").string());
    REQUIRE(figure(b, "peak_bytes") == figure(a, "peak_bytes"));
  }
}

TEST_CASE("where the last block's backward begins is told by the others' if its output stays") {
  const Workplace workplace;
  const TwiceRecorded step(recorded_blocks, false);
  workplace.write("step.pickle", step.snapshot());
  workplace.write("step.json", step.trace());
  const BlockProfile last = profile_from(workplace, "step.pickle --times step.json").blocks.back();
  REQUIRE(last.sizes.gradient == Bytes{200});
  REQUIRE(last == profile_from(workplace, "step.json").blocks.back());
}

TEST_CASE("a profile's times do as well as a trace's") {
  const Workplace workplace;
  const Profile traced = profile_from(with_both(workplace), "step.json");
  workplace.write("traced.json", to_json(traced));
  REQUIRE(profile_from(workplace, "step.pickle --times traced.json") == traced);
}

TEST_CASE("a snapshot's own times stand in, and it is said") {
  const Workplace workplace;
  const Ended ended = with_both(workplace).stowage("import step.pickle -o made.json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err.starts_with("warning: times: a snapshot knows when the host allocated"));
  const Profile own = read_profile(workplace.path("made.json"));
  const Profile traced = profile_from(workplace, "step.json");
  REQUIRE(own.digest() != "");
  for (int i = 0; i < recorded_blocks; ++i) {
    REQUIRE(saved_bytes(own.blocks[i]) == saved_bytes(traced.blocks[i]));
    REQUIRE(own.blocks[i].sizes == traced.blocks[i].sizes);
    REQUIRE(own.blocks[i].times.forward == own.blocks[0].times.forward);
  }
}

TEST_CASE("times of another model, of none, and of a snapshot are refused") {
  const Workplace workplace;
  with_both(workplace).write("five.json", TwiceRecorded(5).trace());
  const auto refusal = [&](const std::string& times) {
    const Ended ended = workplace.stowage("import step.pickle -o made.json --times " + times);
    REQUIRE(ended.code == 2);
    REQUIRE(!workplace.holds("made.json"));
    return ended.err;
  };
  REQUIRE(refusal("five.json") ==
          "stowage: five.json: blocks: expected 6 blocks, as there are in the recording, not 5\n");
  REQUIRE(refusal("step.pickle") ==
          "stowage: step.pickle: expected times of a device, which a snapshot does not have\n");
  REQUIRE(refusal("machine.json").starts_with("stowage: machine.json: expected "));
}
