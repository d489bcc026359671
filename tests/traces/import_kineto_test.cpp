#include "tests/catch.h"
#include "tests/traces/import_made_trace.h"
#include "tests/traces/packed.h"
#include "traces/error.h"
#include "traces/import/import_json.h"

using namespace stowage;
using stowage::tests::MadeTrace;

namespace {

constexpr Nanos micros(std::int64_t count) {
  return {count * 1000};
}

std::string sequence(int number) {
  return R"("Sequence number": )" + std::to_string(number);
}

std::string node(int number) {
  return R"("Fwd thread id": 1, )" + sequence(number);
}

const std::string evaluate = "autograd::engine::evaluate_function: ";

}  // namespace

TEST_CASE("the host's time does not blame blocks for what the device does") {
  // 40 blocks; the host takes 2 ms for each of the first ten and then waits: 199 ms each. The device takes
  // 150 ms for each: 40 * 150 ms = 6 s.
  MadeTrace trace;
  long at = 0;
  for (int block = 0; block < 40; ++block) {
    const long lasts = block < 10 ? 2000 : 199000;
    trace.annotation("block " + std::to_string(block), 5, at, lasts);
    trace.kernel("gemm", 5, at + 1, 1000 + block * 150000L, 150000);
    at += lasts;
  }
  const ImportReport report = trace.import();
  REQUIRE(report.found.how == FoundBy::annotations);
  REQUIRE(report.found.blocks.size() == 40);
  for (const ImportedBlock& block : report.found.blocks) REQUIRE(block.forward == micros(150000));
  REQUIRE(report.steps.size() == 1);
  REQUIRE(report.steps[0].end - report.steps[0].begin == micros(6000000));
  REQUIRE(report.time->totals.explained() == 1.0);
}

TEST_CASE("spans without a usable duration are counted and kept out of the times") {
  const ImportReport report =
      MadeTrace()
          .raw(R"json({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","ts":10,"dur":0,"pid":0,"tid":7,
                  "args":{"bytes":1048576,"memory bandwidth (GB/s)":inf}})json")
          .raw(R"({"ph":"X","cat":"kernel","name":"k","ts":20,"dur":-1,"pid":0,"tid":7})")
          .raw(R"({"ph":"X","cat":"kernel","name":"k2","ts":30,"pid":0,"tid":7})")
          .import();
  REQUIRE(report.repairs[Repair::zero_duration].count ==
          1);  // an event counts once: not for its rate as well
  REQUIRE(report.repairs[Repair::not_a_number].count == 0);
  REQUIRE(report.repairs[Repair::negative_duration].count == 1);
  REQUIRE(report.repairs[Repair::missing_duration].count == 1);
  REQUIRE(!report.clean());
  REQUIRE(report.time->occupation.busy == Nanos{});
  REQUIRE(report.copies->traffic.at(0).bytes == Bytes{1048576});
  REQUIRE(report.copies->links.empty());
}

TEST_CASE("a kernel at no time for no time never ran as far as the trace knows") {
  const ImportReport report =
      MadeTrace().kernel("k", 5, 10, 20, 5).next_correlation().orphan("kernel", "lost", 0, 0, "").import();
  REQUIRE(report.repairs[Repair::missing_duration].count == 1);
  REQUIRE(report.time->totals.all == micros(5));
  // but a kernel shorter than the clock's tick did
  REQUIRE(MadeTrace().kernel("k", 5, 10, 20, 0).import().clean());
}

TEST_CASE("backslashes, control characters and a cut: two of three events are kept") {
  std::string text = R"([{"ph":"X","cat":"cpu_op","name":"C:\Users\new","pid":1,"tid":1,"ts":1,"dur":2},)"
                     "\n"
                     R"({"ph":"X","cat":"cpu_op","name":"a)"
                     "\x01"
                     R"(b","pid":1,"tid":1,"ts":5,"dur":2},)";
  const std::size_t third = text.size();
  text += R"({"ph":"X","cat":"cpu_op","na)";
  const ImportReport report = import_recording(*open_bytes(std::span(text)), "cut.json", {});
  REQUIRE(report.events == 2);
  REQUIRE(report.repairs[Repair::bad_escape].count == 1);
  REQUIRE(report.repairs[Repair::control_character].count == 1);
  REQUIRE(report.repairs[Repair::truncated].count == 1);
  REQUIRE(report.repairs[Repair::truncated].first_offset == third);
}

TEST_CASE("a thread is the same whether its number is written as one or as text") {
  // The operator is on thread "7", the launch on 7, and both in stream 7's shadow.
  const ImportReport report =
      MadeTrace()
          .raw(R"({"ph":"X","cat":"user_annotation","name":"layer 0","pid":1,"tid":"7","ts":0,"dur":10})")
          .raw(R"({"ph":"X","cat":"user_annotation","name":"layer 1","pid":1,"tid":"7","ts":10,"dur":10})")
          .kernel("a", 7, 5, 6, 3)
          .kernel("b", 7, 15, 16, 4)
          .import();
  REQUIRE(report.found.blocks.at(0).forward == micros(3));
  REQUIRE(report.found.blocks.at(1).forward == micros(4));
}

TEST_CASE("launches are linked by correlation, also beyond 2^63, and one launch may start many") {
  MadeTrace trace;
  trace.annotation("layer 0", 5, 0, 10).annotation("layer 1", 5, 10, 10);
  trace.raw(R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":5,"ts":12,"dur":1,
               "args":{"correlation":10159970886766084423}})");
  for (int i = 0; i < 3; ++i) {
    trace.raw(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2)" + std::to_string(i * 2) +
              R"(,"dur":2,"args":{"correlation":10159970886766084423}})");
  }
  trace.kernel("first", 5, 3, 19, 1);
  const ImportReport report = trace.import();
  REQUIRE(report.found.blocks.at(0).forward == micros(1));
  REQUIRE(report.found.blocks.at(1).forward == micros(6));  // 3 * 2
}

TEST_CASE("orphans, collectives and copies over the link belong to no block") {
  MadeTrace trace;
  trace.annotation("layer 0", 5, 0, 10).annotation("layer 1", 5, 10, 10);
  trace.kernel("gemm", 5, 1, 30, 7).kernel("ncclDevKernel_AllReduce_Sum_bf16", 5, 2, 40, 100);
  trace.copy("HtoD (Pinned -> Device)", 5, 3, 60, 50, 1000000)
      .copy("DtoD (Device -> Device)", 5, 4, 120, 2, 64);
  trace.next_correlation().orphan("kernel", "from the step before", 1, 9, "");
  trace.kernel("gemm", 5, 11, 150, 3);
  const ImportReport report = trace.import();
  REQUIRE(report.found.blocks.at(0).forward == micros(9));  // 7 + 2 within the device
  REQUIRE(report.found.blocks.at(1).forward == micros(3));
  const WorkTotals& totals = report.time->totals;
  REQUIRE(totals.all == micros(171));  // 7 + 100 + 50 + 2 + 9 + 3
  REQUIRE(totals.blocks == micros(12));
  REQUIRE(totals.collectives == micros(100));
  REQUIRE(totals.host_copies == micros(50));
  REQUIRE(totals.orphans == micros(9));
  REQUIRE(totals.orphan_count == 1);
  REQUIRE(totals.rest == Nanos{});
}

TEST_CASE("device work may name its operator where its launch was lost") {
  const ImportReport report = MadeTrace()
                                  .annotation("layer 0", 5, 0, 10)
                                  .annotation("layer 1", 5, 10, 10)
                                  .op("aten::mm", 5, 12, 3, R"("External id": 44)")
                                  .next_correlation()
                                  .orphan("kernel", "gemm", 40, 6, R"(, "External id": 44)")
                                  .import();
  REQUIRE(report.found.blocks.at(1).forward == micros(6));
  REQUIRE(report.time->totals.orphan_count == 0);
}

namespace {

// Two layers on thread 5, each of two operators that make nodes; the backward on thread 6. Kernel times are
// powers of ten, so that a sum tells its terms.
MadeTrace two_layers() {
  MadeTrace trace;
  trace.module("Model_0", 5, 0, 100);
  for (int layer = 0; layer < 2; ++layer) {
    const long at = 10 + layer * 40;
    trace.module("Layer_" + std::to_string(layer), 5, at, 30)
        .module("Linear_" + std::to_string(layer), 5, at + 1, 8);
    // the view carries the number of the node that comes next, but the product makes it
    trace.op("aten::view", 5, at + 2, 1, sequence(layer * 2))
        .op("aten::mm", 5, at + 4, 4, sequence(layer * 2));
    trace.op("aten::relu", 5, at + 20, 5, sequence(layer * 2 + 1));
    trace.kernel("mm", 5, at + 5, 1000 + layer * 10, 1).kernel("relu", 5, at + 21, 1004 + layer * 10, 1);
  }
  return trace;
}

void backward_node(MadeTrace& trace, int number, long at, long lasts, long kernel_at, long kernel_time) {
  trace.op(evaluate + "Backward0", 6, at, lasts, node(number))
      .op("Backward0", 6, at + 1, lasts - 2, node(number));
  trace.kernel("bwd", 6, at + 2, kernel_at, kernel_time);
}

}  // namespace

TEST_CASE("the backward finds its blocks by sequence number") {
  MadeTrace trace = two_layers();
  backward_node(trace, 3, 200, 10, 2000, 1);
  backward_node(trace, 2, 220, 10, 2100, 10);
  backward_node(trace, 1, 240, 10, 2200, 100);
  backward_node(trace, 0, 260, 10, 2400, 1000);
  trace.op(evaluate + "torch::autograd::AccumulateGrad", 6, 280, 10).kernel("add", 6, 282, 4000, 5);
  trace.annotation("Optimizer.step#AdamW.step", 5, 300, 20).kernel("adam", 5, 310, 4100, 7);
  const ImportReport report = trace.import();
  REQUIRE(report.found.how == FoundBy::modules);
  REQUIRE(report.found.blocks.size() == 2);
  REQUIRE(report.found.blocks[0].name == "Layer_0");
  REQUIRE(report.found.blocks[0].group == "Layer");
  REQUIRE(report.found.blocks[0].forward == micros(2));
  REQUIRE(report.found.blocks[0].backward == micros(1100));
  REQUIRE(report.found.blocks[1].backward == micros(11));
  REQUIRE(report.time->steps.at(0).optimizer == micros(12));  // adding up 5, the optimizer 7
}

TEST_CASE("the number alone is not enough: another thread counts as well") {
  MadeTrace trace = two_layers();
  // a loader's thread with the same numbers, but fewer of them
  trace.op("aten::cat", 9, 20, 5, sequence(3)).op("aten::cat", 9, 26, 5, sequence(99));
  backward_node(trace, 3, 200, 10, 2000, 1);
  backward_node(trace, 0, 260, 10, 2400, 1000);
  const ImportReport report = trace.import();
  REQUIRE(report.found.blocks.at(0).backward == micros(1000));
  REQUIRE(report.found.blocks.at(1).backward == micros(1));
}

TEST_CASE("recomputation inside the backward is told apart, block by block") {
  // The first node of the backward unpacks a saved tensor, which runs both layers again.
  MadeTrace trace = two_layers();
  trace.op(evaluate + "ReluBackward0", 6, 200, 100, node(3)).op("ReluBackward0", 6, 201, 98, node(3));
  trace.module("Layer_0", 6, 210, 20).module("Layer_1", 6, 235, 20);
  trace.op("aten::mm", 6, 212, 5, sequence(0)).op("aten::mm", 6, 240, 5, sequence(1));
  trace.kernel("again", 6, 213, 2000, 10).kernel("again", 6, 241, 2020, 20).kernel("bwd", 6, 270, 2050, 100);
  backward_node(trace, 1, 320, 10, 2200, 1000);
  const ImportReport report = trace.import();
  const ImportedBlock &first = report.found.blocks.at(0), &second = report.found.blocks.at(1);
  REQUIRE(first.recompute == micros(10));
  REQUIRE(second.recompute == micros(20));
  REQUIRE(first.backward == micros(1000));
  REQUIRE(second.backward == micros(100));
  REQUIRE(first.forward == micros(2));
  REQUIRE(first.segment == 0U);
  REQUIRE(second.segment == 0U);  // one after the other: one segment
}

TEST_CASE("reentrant recomputation makes nodes of its own, which belong to its blocks") {
  MadeTrace trace = two_layers();
  trace.op(evaluate + "CheckpointFunctionBackward", 6, 200, 100, node(3));
  trace.module("Layer_1", 6, 210, 20)
      .op("aten::mm", 6, 212, 5, sequence(500))
      .kernel("again", 6, 213, 2000, 10);
  trace.op(evaluate + "MmBackward0", 6, 240, 20, R"("Fwd thread id": 2, )" + sequence(500));
  trace.kernel("bwd", 6, 245, 2050, 100);
  const ImportReport report = trace.import();
  REQUIRE(report.found.blocks.at(1).recompute == micros(10));
  REQUIRE(report.found.blocks.at(1).backward == micros(100));
}

TEST_CASE("without a device the operators themselves are the work") {
  MadeTrace trace;
  trace.annotation("layer 0", 5, 0, 20).annotation("layer 1", 5, 30, 20);
  trace.op("aten::linear", 5, 1, 10, sequence(0))
      .op("aten::mm", 5, 2, 6, sequence(0));  // 10, the product within
  trace.op("aten::linear", 5, 31, 12, sequence(1));
  trace.op(evaluate + "AddmmBackward0", 5, 60, 30, node(1)).op("AddmmBackward0", 5, 61, 20, node(1));
  const ImportReport report = trace.import();
  REQUIRE(!report.time->on_device);
  REQUIRE(report.found.blocks.at(0).forward == micros(10));
  REQUIRE(report.found.blocks.at(1).forward == micros(12));
  REQUIRE(report.found.blocks.at(1).backward == micros(30));
}

TEST_CASE("blocks that nothing names are found by the operators that they repeat") {
  MadeTrace trace;
  trace.op("aten::embedding", 5, 0, 5);
  for (int block = 0; block < 3; ++block) {
    const long at = 10 + block * 100;
    const std::string shapes = R"("Input Dims": [[8, 16]])";
    trace.op("aten::norm", 5, at, 10, shapes)
        .op("aten::mm", 5, at + 20, 10, shapes)
        .op("aten::add", 5, at + 40, 10, shapes);
    trace.op("aten::inner", 5, at + 21, 5, shapes).kernel("k", 5, at + 22, 1000 + at, 30 + block);
    trace.memory(5, at + 45, 100 + block, 4096)
        .memory(5, at + 60, 500 + block, 512)
        .memory(5, at + 70, 500 + block, -512);
  }
  trace.op("aten::mm", 5, 400, 5, R"("Input Dims": [[16, 99]])");
  const ImportReport report = trace.import();
  REQUIRE(report.found.how == FoundBy::operators);
  REQUIRE(report.found.blocks.size() == 3);
  for (int block = 0; block < 3; ++block) {
    const ImportedBlock& found = report.found.blocks[static_cast<std::size_t>(block)];
    REQUIRE(found.name == "block." + std::to_string(block));
    REQUIRE(found.forward == micros(30 + block));
    REQUIRE(found.bytes.saved == Bytes{4096});
    // between two blocks: the first one's
    REQUIRE(found.bytes.forward_workspace == Bytes{512});
  }
}

TEST_CASE("a pattern chooses the blocks") {
  MadeTrace trace = two_layers();
  ImportOptions options;
  options.blocks = "Linear";
  const ImportReport report = trace.import(options);
  REQUIRE(report.found.how == FoundBy::pattern);
  REQUIRE(report.found.blocks.at(0).name == "Linear_0");
  REQUIRE(report.found.blocks.at(0).forward == micros(1));
  options.blocks = "(";
  REQUIRE_THROWS_AS(trace.import(options), InputError);
}

TEST_CASE("steps are those that are marked, or begin with the first block") {
  MadeTrace trace;
  for (int step = 0; step < 3; ++step) {
    const long at = step * 100;
    trace.annotation("ProfilerStep#" + std::to_string(7 + step), 5, at, 90);
    trace.annotation("layer 0", 5, at + 10, 20).annotation("layer 1", 5, at + 40, 20);
    trace.kernel("k", 5, at + 11, at + 20, 3 + step).kernel("k", 5, at + 41, at + 50, 30 - step);
  }
  const ImportReport marked = trace.import();
  REQUIRE(marked.steps.size() == 3);
  REQUIRE(marked.steps[1].begin == micros(100));
  REQUIRE(marked.steps[1].end == micros(190));
  REQUIRE(marked.found.blocks.at(0).forward == micros(4));  // the middle of 3, 4, 5
  REQUIRE(marked.found.blocks.at(1).passes.at(2).forward == micros(28));

  MadeTrace unmarked;
  for (int step = 0; step < 3; ++step) {
    const long at = step * 100;
    unmarked.annotation("layer 0", 5, at + 10, 20).annotation("layer 1", 5, at + 40, 20);
    unmarked.kernel("k", 5, at + 11, at + 20, 3).kernel("k", 5, at + 41, at + 50, 30);
  }
  const ImportReport found = unmarked.import();
  REQUIRE(found.steps.size() == 3);
  REQUIRE(found.steps[1].begin == micros(110));
  REQUIRE(found.steps[1].end == micros(210));
  REQUIRE(found.found.blocks.at(1).passes.at(2).forward == micros(30));
}

TEST_CASE("memory: a level before the recording, a peak in each step") {
  // 1000 B before; step 1 goes up by 20 and down; step 2 by 50.
  const auto totals = [](long allocated) {
    return R"(, "Total Allocated": )" + std::to_string(allocated) + R"(, "Total Reserved": 4096)";
  };
  const ImportReport report = MadeTrace()
                                  .annotation("ProfilerStep#1", 5, 0, 100)
                                  .annotation("ProfilerStep#2", 5, 100, 100)
                                  .memory(5, 10, 1, 20, totals(1020))
                                  .memory(5, 20, 1, -20, totals(1000))
                                  .memory(5, 110, 2, 50, totals(1050))
                                  .memory(5, 130, 2, -50, totals(1000))
                                  .import();
  REQUIRE(report.memory->account.start == Bytes{1000});
  REQUIRE(report.memory->account.peak == Bytes{1050});
  REQUIRE(report.steps.at(0).peak == Bytes{1020});
  REQUIRE(report.steps.at(1).peak == Bytes{1050});
  REQUIRE(peak(report.memory->reserved) == Bytes{4096});
}

TEST_CASE("the JSON form has the agreed keys") {
  const std::string json = to_json(two_layers().import());
  for (const char* key :
       {"\"format\": \"kineto\"", "\"recovered\": {}", "\"blocks\": [", "\"forward_ns\": 2000",
        "\"backward_ns\": 0", "\"saved_bytes\": 0", "\"count\": 1", "\"explained\": 1", "\"steps\": [",
        "\"begin_ns\":", "\"end_ns\":", "\"peak_bytes\": null", "\"links\": {}"}) {
    REQUIRE(json.find(key) != std::string::npos);
  }
}

TEST_CASE("what is no recording is refused by name and nature") {
  const auto reason = [](const std::string& text) {
    try {
      import_recording(*open_bytes(std::span(text)), "given.json", {});
    } catch (const InputError& error) {
      REQUIRE(error.source() == "given.json");
      return error.reason();
    }
    return std::string();
  };
  REQUIRE(reason("").find("an empty file") != std::string::npos);
  REQUIRE(reason("\n<html><img src=").find("an HTML page") != std::string::npos);
  REQUIRE(reason("PK\x03\x04...").find("zip archive") != std::string::npos);
  REQUIRE(reason(R"({"format": "stowage.profile"})").find("something else") != std::string::npos);
  REQUIRE(reason("hello").find("something else") != std::string::npos);
  REQUIRE(reason(tests::packed("{}").substr(0, 10)).find("gzip data that ends before") != std::string::npos);
  REQUIRE(reason(R"({"traceEvents": [{"ph": "X", "name": nonsense here}]})") ==
          "nothing in it could be read: dropped_event at byte 17");
  REQUIRE(reason(R"({"traceEvents": [{"ph": "X", "na)") ==
          "nothing in it could be read: truncated at byte 17");
}
