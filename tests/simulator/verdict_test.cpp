// A bad plan is an answer: out of which memory, at which step; who waits for whom.
#include "cli/prediction.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Forward 0..5, backward 5..10; 100 B resident, 10 B while the forward runs, then 7 + 8 B while the backward
// does, and 300 B of host memory from the forward's end.
Program filling() {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  const StepId backward = builder.compute(StepKind::backward, 0, {5});
  builder.initial({Space::device, BufferKind::resident, {}, {}, {100}});
  const auto live = [&](StepId step, std::int64_t bytes) {
    const BufferId id = builder.buffer({Space::device, BufferKind::workspace, 0, {}, {bytes}});
    builder.alloc(id, {step, Edge::begin});
    builder.free(id, {step, Edge::end});
  };
  live(forward, 10);
  live(backward, 7);
  live(backward, 8);
  const BufferId host = builder.buffer({Space::host, BufferKind::saved, 0, {}, {300}});
  builder.alloc_at_issue(host, builder.copy(store(0, 300, {forward, Edge::end})));
  return builder.finish(one_stream);
}

constexpr StepId forward = 0, backward = 1, stored = 2;

}  // namespace

TEST_CASE("what fits exactly, fits") {
  Machine machine = plain_machine();
  machine.device = {{120}, {5}};  // 115 usable: 100 + 7 + 8
  machine.host.memory = machine.host.pinned_limit = {300};
  REQUIRE(std::holds_alternative<Ran>(simulate(filling(), machine).outcome.verdict));
}

// At 5 the forward's 10 B are gone, 100 are left, and 7 + 8 are asked for at once where 14 are free: 7 fit,
// 8 more do not.
TEST_CASE("out of device memory") {
  Machine machine = plain_machine();
  machine.device = {{119}, {5}};
  const Outcome outcome = simulate(filling(), machine).outcome;
  REQUIRE(outcome.verdict == Verdict{OutOfMemory{MemorySpace::device, backward, {5}, {15}, {14}}});
  REQUIRE(outcome.run.step == Nanos{305});  // as if memory were there: the store of 300 ends at 5 + 300
  REQUIRE(outcome.run.peaks.device == Bytes{115});
}

TEST_CASE("the first instant counts, not the worst") {
  Machine machine = plain_machine();
  machine.device = {{109}, {0}};
  const Outcome outcome = simulate(filling(), machine).outcome;
  REQUIRE(outcome.verdict == Verdict{OutOfMemory{MemorySpace::device, forward, {0}, {110}, {109}}});
}

TEST_CASE("what is there from the start may be too much") {
  Machine machine = plain_machine();
  machine.device = {{90}, {0}};
  const Outcome outcome = simulate(filling(), machine).outcome;
  REQUIRE(outcome.verdict == Verdict{OutOfMemory{MemorySpace::device, forward, {0}, {110}, {90}}});
}

TEST_CASE("out of host memory") {
  Machine machine = plain_machine();
  machine.host.memory = {299};
  const Outcome outcome = simulate(filling(), machine).outcome;
  REQUIRE(outcome.verdict == Verdict{OutOfMemory{MemorySpace::host, stored, {5}, {300}, {299}}});
}

// 300 B of activations round to 512: one byte more than may be pinned, so they lie in pageable memory. The
// store of 300 then runs before the backward, which would begin at 5, and the step ends with the backward at
// 310.
TEST_CASE("activations that may not be pinned are pageable") {
  Machine machine = plain_machine();
  machine.host.pinned_limit = {511};
  REQUIRE(simulate(filling(), machine).run().peaks.host_pinned == Bytes{300});
  machine.host.pinned_rounding = PinnedRounding::pow2;
  const Simulated result = simulate(filling(), machine);
  REQUIRE(std::holds_alternative<Ran>(result.outcome.verdict));
  REQUIRE(result.run().peaks.host_pinned == Bytes{0});
  REQUIRE(result.run().peaks.host == Bytes{300});
  REQUIRE(result.run().step == Nanos{310});
}

// Weights are pinned before the step begins, or not at all: 300 B are 512, and 200 more than the plan allows
// itself.
TEST_CASE("out of pinned memory for swapped weights, because of how it is rounded, or what the plan allows") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.initial({Space::host, BufferKind::weights, 0, {}, {300}});
  Machine machine = plain_machine();
  Program program = builder.finish(one_stream);
  machine.host.pinned_limit = {511};
  REQUIRE(std::holds_alternative<Ran>(simulate(program, machine).outcome.verdict));
  machine.host.pinned_rounding = PinnedRounding::pow2;
  REQUIRE(simulate(program, machine).outcome.verdict ==
          Verdict{OutOfMemory{MemorySpace::pinned, forward, {0}, {512}, {511}}});
  machine.host.pinned_limit = {1000};
  program.pinned.bytes = Bytes{312};
  REQUIRE(simulate(program, machine).outcome.verdict ==
          Verdict{OutOfMemory{MemorySpace::pinned, forward, {0}, {512}, {312}}});
}

// The forward waits for a load that is issued when the forward ends.
TEST_CASE("a step that waits for what it starts itself") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::prologue, {}, {10});
  const StepId waits = builder.compute(StepKind::forward, 0, {10});
  const CopyId late = builder.copy(load(0, 5, {waits, Edge::end}));
  builder.wait(waits, late);
  builder.copy(store(1, 4, {first, Edge::end}));
  const Outcome outcome = simulate(builder.finish(one_stream), plain_machine()).outcome;
  // Steps: prologue 0, forward 1, load 2, store 3. The store still runs, from 10 to 14.
  REQUIRE(outcome.verdict == Verdict{Deadlock{{{1, 2}, {2, 1}}}});
  REQUIRE(outcome.run.step == Nanos{14});
  REQUIRE(outcome.run.compute == Nanos{10});
}

// Each lane's head waits for what is behind the other's.
TEST_CASE("two lanes that wait for each other") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  const CopyId store_a = builder.copy(store(0, 1, {})), store_b = builder.copy(store(1, 1, {}));
  builder.copy(restore(1, 1, {}), store_b);
  builder.copy(restore(0, 1, {}), store_a);
  Program program = builder.finish(one_stream);
  // Steps: forward 0, restores 1 and 2, stores 3 and 4. The first store is made to wait for the last restore.
  program.wait_ranges[3] = {2, 3};
  program.waits.push_back(2);
  const Outcome outcome = simulate(program, plain_machine()).outcome;
  REQUIRE(outcome.verdict == Verdict{Deadlock{{{1, 4}, {3, 2}}}});
}

// The same as people are told it.
TEST_CASE("a deadlock says who waits for whom") {
  ProgramBuilder builder;
  const StepId waits = builder.compute(StepKind::backward, 3, {10});
  builder.wait(waits, builder.copy(restore(3, 5, {waits, Edge::end})));
  Predicted predicted;
  predicted.program = builder.finish(one_stream);
  predicted.outcome = Engine(plain_machine()).simulate(predicted.program);
  REQUIRE(sentence(predicted, plain_machine()) ==
          "It would never end: the backward of block 3 waits for the restore of a tensor of block 3; the "
          "restore of a tensor of block 3 waits for the backward of block 3.");
}

TEST_CASE("running out of memory on the way to a deadlock comes first") {
  ProgramBuilder builder;
  const StepId waits = builder.compute(StepKind::forward, 0, {10});
  builder.wait(waits, builder.copy(load(0, 5, {waits, Edge::end})));
  builder.initial({Space::device, BufferKind::resident, {}, {}, {8}});
  Machine machine = plain_machine();
  machine.device = {{7}, {0}};
  const Outcome outcome = Engine(machine).simulate(builder.finish(one_stream));
  REQUIRE(outcome.verdict == Verdict{OutOfMemory{MemorySpace::device, 0, {0}, {8}, {7}}});
}
