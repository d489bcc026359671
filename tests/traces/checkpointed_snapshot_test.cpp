// One model, recorded as a snapshot under several ways of checkpointing: its blocks cost the same under all.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/traces/import_made_snapshot.h"

namespace stowage::tests::checkpointed {
namespace {

struct Frame {
  std::string function;
  int line;
};
using Stack = std::vector<Frame>;  // outermost first

const Frame embedding{"forward", 10}, loop{"forward", 20}, head{"forward", 30};
const Frame attention{"forward", 101}, feed_forward{"forward", 102}, within{"forward", 5};

// How torch.utils.checkpoint runs blocks again.
enum class Way {
  stopping_early,  // use_reentrant=False: from an unpack hook, until all that was saved is there again
  to_the_end,      // the same with set_checkpoint_early_stop(False)
  reentrant,       // in the backward of an autograd function, which holds the output while it runs
  sequential,      // checkpoint_sequential: a segment's blocks are called in a forward of their own
};

struct Checkpointing {
  Way way = Way::stopping_early;
  std::vector<std::vector<int>> segments = {};  // blocks that run again together
  bool attention_only = false;
  bool unnamed = false;  // the stacks of what runs again are lost
};

constexpr int blocks = 4;
constexpr std::int64_t qkv = 100'000, workspace = 500'000, hidden = 60'000, output = 28'000, gradient = 7'000,
                       backward_workspace = 40'000;

// A block keeps what its attention and its feed-forward save, and its output.
class CheckpointedTraining {
 public:
  explicit CheckpointedTraining(Checkpointing how, int steps = 1) : how_(std::move(how)) {
    for (int step = 0; step < steps; ++step) record_step(1000 * step);
  }

  ImportReport import() { return made_.import(); }

 private:
  enum Tensor {
    made_qkv,
    made_workspace,
    made_hidden,
    made_output,
    input_gradient,
    weight_gradient,
    scratch
  };

  std::int64_t address(int block, int tensor, bool again = false) const {
    return 0x700000000 + 512 * (base_ + 50 * (block + 1) + 20 * (again ? 1 : 0) + tensor);
  }

  void allocate(std::int64_t at, std::int64_t bytes, const Stack& stack) {
    std::vector<std::string> frames = {pickled_frame("malloc", 1)};
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
      frames.push_back(pickled_frame(frame->function, frame->line));
    made_.entry("alloc", at, bytes, pickled_list(frames));
  }
  void free(std::int64_t at, std::int64_t bytes) { made_.free(at, bytes); }

  const std::vector<int>* segment_of(int block) const {
    for (const std::vector<int>& segment : how_.segments) {
      if (segment.back() == block) return &segment;
    }
    return nullptr;
  }
  bool checkpointed(int block) const {
    for (const std::vector<int>& segment : how_.segments) {
      if (std::find(segment.begin(), segment.end(), block) != segment.end()) return true;
    }
    return false;
  }

  static Stack joined(Stack outer, const Stack& inner) {
    outer.insert(outer.end(), inner.begin(), inner.end());
    return outer;
  }

  Stack forward_stack() const {
    Stack stack = {{"<module>", 3}, loop, {"_call_impl", 1790}};
    if (how_.way == Way::reentrant) stack.push_back({"forward", 264});
    if (how_.way == Way::sequential) stack.push_back({"forward", 540});
    return stack;
  }
  Stack again_stack() const {
    if (how_.unnamed) return {};
    if (how_.way == Way::reentrant) return {{"apply", 306}, {"backward", 296}};
    const Stack stack = {{"unpack_hook", 1115}, {"recompute_fn", 1397}};
    return how_.way == Way::sequential ? joined(stack, {{"forward", 540}}) : stack;
  }

  void forward(int block, const Stack& stack, bool again) {
    const auto in = [&](const Frame& line, bool deeper) {
      if (how_.unnamed && again) return Stack{};
      if (how_.attention_only && again) return joined(stack, {within});
      return deeper ? joined(stack, {line, within}) : joined(stack, {line});
    };
    allocate(address(block, made_qkv, again), qkv, in(attention, true));
    allocate(address(block, made_workspace, again), workspace, in(attention, true));
    free(address(block, made_workspace, again), workspace);
    if (again && how_.attention_only) return;
    allocate(address(block, made_hidden, again), hidden, in(feed_forward, true));
    made_.wait(20);
    if (again && how_.way == Way::stopping_early) return;
    allocate(address(block, made_output, again), output, in(feed_forward, false));
  }

  void record_step(int base) {
    base_ = base;
    allocate(address(-1, made_output), output, {{"<module>", 3}, embedding});
    for (int block = 0; block < blocks; ++block) {
      forward(block, forward_stack(), false);
      if (!checkpointed(block)) continue;
      free(address(block, made_qkv), qkv);
      if (!how_.attention_only) free(address(block, made_hidden), hidden);
      const std::vector<int>* ends = segment_of(block);
      if (ends == nullptr) inside_.insert(block);
      if (inside_.count(block - 1)) free(address(block - 1, made_output), output);
    }
    allocate(address(blocks, made_output), 90'000, {{"<module>", 3}, head});
    allocate(address(blocks, input_gradient), output, {});
    free(address(blocks, made_output), 90'000);
    free(address(blocks - 1, made_output), output);
    for (int block = blocks - 1; block >= 0; --block) record_backward(block);
    for (int block = 0; block < blocks; ++block) free(address(block, weight_gradient), gradient);
    inside_.clear();
  }

  void record_backward(int block) {
    if (const std::vector<int>* segment = segment_of(block)) {
      for (const int member : *segment) {
        forward(member, again_stack(), true);
        const bool last = member == block;
        if (last && (how_.way == Way::to_the_end || how_.way == Way::sequential))
          free(address(member, made_output, true), output);
      }
    }
    const bool again = checkpointed(block);
    allocate(address(block, scratch), backward_workspace, {});
    if (!how_.attention_only || !again) free(address(block, made_hidden, again), hidden);
    if (how_.attention_only && again) free(address(block, made_hidden), hidden);
    allocate(address(block, weight_gradient), gradient, {});
    free(address(block, scratch), backward_workspace);
    allocate(address(block, input_gradient), output, {});
    free(address(block + 1, input_gradient), output);
    made_.wait(30);
    if (block == 0) free(address(0, input_gradient), output);  // the embedding has had it
    free(address(block, made_qkv, again), qkv);
    if (again && how_.way == Way::reentrant) free(address(block, made_output, true), output);
    free(address(block - 1, made_output, inside_.count(block - 1) > 0), output);
  }

  Checkpointing how_;
  std::int64_t base_ = 0;
  std::set<int> inside_;  // blocks of a segment whose output does not outlive the forward
  MadeSnapshot made_;
};

// Each block, as it is without checkpointing.
void require_true_figures(const ImportReport& report) {
  REQUIRE(report.doubts.empty());
  REQUIRE(report.found.blocks.size() == blocks);
  for (const ImportedBlock& block : report.found.blocks) {
    REQUIRE(block.bytes.saved == Bytes{qkv + hidden + output});
    REQUIRE(block.bytes.output == Bytes{output});
    REQUIRE(block.bytes.forward_workspace == Bytes{workspace - hidden - output});  // while qkv is there
    REQUIRE(block.bytes.gradient == Bytes{gradient});
    // gradients of the weights and of the input, and what was saved is gone: the scratch space comes first
    REQUIRE(block.bytes.backward_rise == Bytes{backward_workspace});
  }
}

std::vector<std::optional<BlockId>> segments_of(const ImportReport& report) {
  std::vector<std::optional<BlockId>> segments;
  for (const ImportedBlock& block : report.found.blocks) segments.push_back(block.segment);
  return segments;
}

const std::vector<std::vector<int>> each = {{0}, {1}, {2}, {3}};

}  // namespace

TEST_CASE("a block's bytes are the same however it is run again, and when it is not") {
  require_true_figures(CheckpointedTraining({}).import());
  for (const Way way : {Way::stopping_early, Way::to_the_end, Way::reentrant, Way::sequential}) {
    for (const int steps : {1, 3}) {
      CheckpointedTraining training({.way = way, .segments = each}, steps);
      const ImportReport report = training.import();
      require_true_figures(report);
      REQUIRE(report.steps.size() == static_cast<std::size_t>(steps));
      REQUIRE(segments_of(report) == std::vector<std::optional<BlockId>>{0, 1, 2, 3});
    }
  }
}

TEST_CASE("what runs again is told from the backward it lies in") {
  const ImportedBlock plain = CheckpointedTraining({}).import().found.blocks[1];
  const ImportedBlock again = CheckpointedTraining({.segments = each}).import().found.blocks[1];
  REQUIRE(plain.recompute == Nanos{});
  REQUIRE(again.recompute > Nanos{20'000});  // the wait within, and entries of a microsecond
  REQUIRE(again.forward >= plain.forward);   // the frees of what is not kept take time
  REQUIRE(again.backward == plain.backward);
}

TEST_CASE("blocks that run again together are a segment") {
  const ImportReport pairs =
      CheckpointedTraining({.way = Way::sequential, .segments = {{0, 1}, {2, 3}}}).import();
  REQUIRE(pairs.doubts.empty());
  REQUIRE(segments_of(pairs) == std::vector<std::optional<BlockId>>{0, 0, 2, 2});
  require_true_figures(pairs);
  // checkpoint_sequential keeps the last one
  const ImportReport kept_last =
      CheckpointedTraining({.way = Way::sequential, .segments = {{0, 1, 2}}}).import();
  REQUIRE(segments_of(kept_last) == std::vector<std::optional<BlockId>>{0, 0, 0, {}});
  require_true_figures(kept_last);
}

TEST_CASE("some blocks run again and others do not") {
  for (const Way way : {Way::stopping_early, Way::reentrant}) {
    const ImportReport odd = CheckpointedTraining({.way = way, .segments = {{1}, {3}}}).import();
    REQUIRE(segments_of(odd) == std::vector<std::optional<BlockId>>{{}, 1, {}, 3});
    require_true_figures(odd);
    const ImportReport even = CheckpointedTraining({.way = way, .segments = {{0}, {2}}}, 2).import();
    REQUIRE(segments_of(even) == std::vector<std::optional<BlockId>>{0, {}, 2, {}});
    require_true_figures(even);
  }
}

TEST_CASE("parts of blocks that run again are refused") {
  const ImportReport report = CheckpointedTraining({.segments = each, .attention_only = true}).import();
  REQUIRE(report.doubts.size() == 1);
}

TEST_CASE("blocks that keep nothing and are not seen to run again are refused") {
  const ImportReport report = CheckpointedTraining({.segments = each, .unnamed = true}).import();
  REQUIRE(report.doubts.size() == 1);
}

}  // namespace stowage::tests::checkpointed
