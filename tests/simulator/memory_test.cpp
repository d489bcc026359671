// When bytes are in use, on programs made by hand. One byte takes one nanosecond.
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

Buffer on_device(std::int64_t bytes) {
  return {Space::device, BufferKind::workspace, 0, {}, {bytes}};
}

Buffer on_host(BufferKind kind, std::int64_t bytes) {
  return {Space::host, kind, 0, {}, {bytes}};
}

void live(ProgramBuilder& builder, const Buffer& buffer, Trigger from, Trigger to) {
  const BufferId id = builder.buffer(buffer);
  builder.alloc(id, from);
  builder.free(id, to);
}

using Curve = std::vector<MemorySample>;

}  // namespace

// 10 B until the forward's end, 8 B from the backward's begin: the same instant, so 10, never 18.
TEST_CASE("at one instant frees come before allocations") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  const StepId backward = builder.compute(StepKind::backward, 0, {5});
  live(builder, on_device(10), {forward, Edge::begin}, {forward, Edge::end});
  live(builder, on_device(8), {backward, Edge::begin}, {backward, Edge::end});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.run().peaks.device == Bytes{10});
  REQUIRE(result.timeline.memory.device == Curve{{{0}, {10}}, {{5}, {8}}, {{10}, {0}}});
}

TEST_CASE("what lives for no time never shows") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  const StepId nothing = builder.compute(StepKind::epilogue, {}, {0});
  builder.compute(StepKind::backward, 0, {5});
  live(builder, on_device(1000), {nothing, Edge::begin}, {nothing, Edge::end});
  builder.initial(on_device(3));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.run().peaks.device == Bytes{3});
  REQUIRE(result.timeline.memory.device == Curve{{{0}, {3}}});
}

TEST_CASE("what is there from the start may go at once") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  builder.free(builder.initial(on_device(100)), {forward, Edge::begin});
  builder.initial(on_device(1));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.run().peaks.device == Bytes{1});
}

// The load is issued at 0 and allocates then, though its lane is busy until 20 and it arrives at 30.
TEST_CASE("a copy allocates when it is issued") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  builder.copy(load(0, 20, {}));
  const CopyId second = builder.copy(load(1, 10, {}));
  const BufferId buffer = builder.buffer(on_device(10));
  builder.alloc_at_issue(buffer, second);
  builder.free_after(buffer, second);
  live(builder, on_device(2), {forward, Edge::begin}, {forward, Edge::end});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.memory.device == Curve{{{0}, {12}}, {{5}, {10}}, {{30}, {0}}});
}

// While the backward waits from 5 to 25, the forward's 10 B are gone and the backward's 8 B not yet there.
TEST_CASE("a waiting step holds nothing of its own") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  const StepId backward = builder.compute(StepKind::backward, 0, {5});
  builder.wait(backward, builder.copy(load(0, 25, {})));
  live(builder, on_device(10), {forward, Edge::begin}, {forward, Edge::end});
  live(builder, on_device(8), {backward, Edge::begin}, {backward, Edge::end});
  live(builder, on_device(1), {backward, Edge::ready}, {backward, Edge::begin});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.memory.device == Curve{{{0}, {10}}, {{5}, {1}}, {{25}, {8}}, {{30}, {0}}});
}

// 300 B of weights all along, 40 B of activations while the forward runs, and a buffer of no bytes.
TEST_CASE("host memory counts activations apart, and pinned memory as it is rounded") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {5});
  builder.initial(on_host(BufferKind::weights, 300));
  builder.initial(on_host(BufferKind::saved, 0));
  live(builder, on_host(BufferKind::saved, 40), {forward, Edge::begin}, {forward, Edge::end});
  const Program program = builder.finish(one_stream);
  Machine machine = plain_machine();
  const auto peaks = [&](PinnedRounding rounding) {
    machine.host.pinned_rounding = rounding;
    return simulate(program, machine).run().peaks;
  };
  REQUIRE(peaks(PinnedRounding::exact) == Peaks{{0}, {0}, {340}, {40}, {340}});
  REQUIRE(peaks(PinnedRounding::pow2) == Peaks{{0}, {0}, {340}, {40}, {512 + 64}});
  REQUIRE(peaks(PinnedRounding::slab) == Peaks{{0}, {0}, {340}, {40}, {512 + 256}});
}

TEST_CASE("memory beyond 8 EiB is refused") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.initial(on_device(std::int64_t{1} << 62));
  builder.initial(on_device(std::int64_t{1} << 62));
  const Program program = builder.finish(one_stream);
  REQUIRE_THROWS_AS(simulate(program, plain_machine()), InputError);
}
