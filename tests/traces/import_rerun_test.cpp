// Forwards that run again inside the backward, as profiler traces show them.
#include <algorithm>

#include "tests/catch.h"
#include "tests/traces/import_made_trace.h"

using namespace stowage;
using stowage::tests::MadeTrace;

namespace {

const std::string evaluating = "autograd::engine::evaluate_function: ";

std::string node_of(int sequence) {
  return R"("Fwd thread id": 1, "Sequence number": )" + std::to_string(sequence);
}

// Two layers on thread 5: each leaves an output of 100 bytes.
MadeTrace checkpointed_layers() {
  MadeTrace trace;
  for (int layer = 0; layer < 2; ++layer) {
    const long at = layer * 50;
    trace.module("Layer_" + std::to_string(layer), 5, at, 40)
        .op("aten::mm", 5, at + 1, 30, R"("Sequence number": )" + std::to_string(layer));
    trace.memory(5, at + 10, 1 + layer, 100);
  }
  return trace;
}

// The layer runs again inside its node: 64 bytes are saved, 32 stay until the forward has been left.
void run_again(MadeTrace& trace, int layer, long at) {
  trace.op(evaluating + "MmBackward0", 6, at, 90, node_of(layer))
      .module("Layer_" + std::to_string(layer), 6, at + 1, 40);
  trace.op("aten::mm", 6, at + 2, 30, R"("Sequence number": 7)");
  trace.memory(6, at + 5, 10 + 2 * layer, 64).memory(6, at + 6, 11 + 2 * layer, 32);
  trace.memory(6, at + 45, 11 + 2 * layer, -32).memory(6, at + 46, 99, -5056);  // the second is not its own
  trace.op("aten::mm", 6, at + 50, 20);
  trace.memory(6, at + 60, 10 + 2 * layer, -64).memory(6, at + 61, 1 + layer, -100);
}

// Three blocks of four operators each.
MadeTrace unnamed_blocks(const std::string& first = "aten::norm") {
  MadeTrace trace;
  for (int block = 0; block < 3; ++block) {
    const long at = block * 100;
    const std::string shapes = R"("Input Dims": [[8, 16]], "Sequence number": )" + std::to_string(block);
    trace.op(first, 5, at, 10, shapes).op("aten::linear", 5, at + 20, 10, shapes);
    trace.op("aten::gelu", 5, at + 40, 10, shapes).op("aten::linear", 5, at + 60, 10, shapes);
  }
  return trace;
}

bool doubts_reruns(const ImportReport& report) {
  return std::any_of(report.doubts.begin(), report.doubts.end(), [](const std::string& doubt) {
    return doubt.find("blocks run again inside the backward") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("what a forward that was run again lets go of right after it is not saved") {
  MadeTrace trace = checkpointed_layers();
  run_again(trace, 1, 200);
  run_again(trace, 0, 300);
  const ImportReport report = trace.import();
  REQUIRE(report.found.blocks.size() == 2);
  for (const ImportedBlock& block : report.found.blocks) {
    REQUIRE(block.bytes.output == Bytes{100});
    REQUIRE(block.bytes.saved == Bytes{164});  // 64 of the second forward and the output of the first
  }
  REQUIRE(report.doubts.empty());
}

TEST_CASE("operators that run again inside the backward make the blocks' figures doubtful") {
  MadeTrace trace = unnamed_blocks();
  REQUIRE(trace.import().found.blocks.size() == 3);
  trace.op(evaluating + "LinearBackward0", 6, 400, 90, node_of(2));
  const std::string shapes = R"("Input Dims": [[8, 16]])";
  trace.op("aten::norm", 6, 410, 5, shapes).op("aten::linear", 6, 420, 5, shapes);
  REQUIRE(!doubts_reruns(trace.import()));  // one pair of three
  trace.op("aten::gelu", 6, 430, 5, shapes);
  REQUIRE(doubts_reruns(trace.import()));
}

TEST_CASE("a backward's own operators are no second forward") {
  MadeTrace trace = unnamed_blocks();
  const std::string shapes = R"("Input Dims": [[8, 16]])";
  for (int block = 3; block-- > 0;) {
    const long at = 400 + 100 * (3 - block);
    trace.op(evaluating + "LinearBackward0", 6, at, 40, node_of(block))
        .op("aten::linear", 6, at + 1, 5, shapes);
    trace.op("aten::mm", 6, at + 10, 5, shapes).op("aten::linear", 6, at + 20, 5, shapes);
  }
  const ImportReport report = trace.import();
  REQUIRE(report.doubts.empty());
  REQUIRE(report.found.blocks.at(1).backward > Nanos{});
}

TEST_CASE("functions that hide a second forward are told by their name") {
  REQUIRE(doubts_reruns(unnamed_blocks("CheckpointFunction").import()));
}
