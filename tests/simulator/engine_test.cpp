// Lanes, edges and copies, on programs made by hand. One byte takes one nanosecond.
#include "simulator/engine.h"

#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace {}  // namespace

TEST_CASE("compute steps follow each other") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  builder.compute(StepKind::backward, 0, {20});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(at(result.span(StepKind::forward, 0), 0, 10));
  REQUIRE(at(result.span(StepKind::backward, 0), 10, 30));
  REQUIRE(result.run().step == Nanos{30});
  REQUIRE(result.run().compute == Nanos{30});
  REQUIRE(std::holds_alternative<Ran>(result.outcome.verdict));
}

TEST_CASE("a program without steps takes no time") {
  ProgramBuilder builder;
  builder.initial({Space::device, BufferKind::resident, {}, {}, {7}});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.run().step == Nanos{0});
  REQUIRE(result.run().peaks.device == Bytes{7});
}

TEST_CASE("copies of one lane queue, lanes overlap") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  builder.compute(StepKind::backward, 0, {5});
  builder.copy(store(0, 12, {forward, Edge::end}));
  builder.copy(store(1, 8, {forward, Edge::end}));
  builder.copy(load(2, 7, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(at(result.span(StepKind::store_saved, 0), 10, 22));  // 10 + 12
  REQUIRE(at(result.span(StepKind::store_saved, 1), 22, 30));  // 22 + 8
  REQUIRE(at(result.span(StepKind::load_weights, 2), 10, 17));
  REQUIRE(result.run().step == Nanos{30});
}

// The backward waits for a load of 25 that is issued at the start: ready at 10, it begins at 25, ends at 45.
TEST_CASE("a copy is issued at its edge") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {20});
  builder.wait(backward, builder.copy(load(0, 25, {})));
  const Edge edge = GENERATE(Edge::ready, Edge::begin, Edge::end);
  builder.copy(store(0, 1, {backward, edge}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  const std::int64_t issued = edge == Edge::ready ? 10 : edge == Edge::begin ? 25 : 45;
  REQUIRE(at(result.span(StepKind::backward, 0), 25, 45));
  REQUIRE(at(result.span(StepKind::store_saved, 0), issued, issued + 1));
}

// The restore must wait for its store, which ends at 10 + 30; the load behind it could start at 10, but a
// lane is a queue.
TEST_CASE("a blocked head blocks its lane") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const CopyId stored = builder.copy(store(0, 30, {forward, Edge::end}));
  builder.copy(restore(0, 30, {forward, Edge::end}), stored);
  builder.copy(load(1, 5, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(at(result.span(StepKind::restore_saved, 0), 40, 70));
  REQUIRE(at(result.span(StepKind::load_weights, 1), 70, 75));
}

// Two copies back to back, and a third that is issued at 50, later than the second ends.
TEST_CASE("latency is paid by every copy of one stream, and after a gap by copies of several") {
  Machine machine = plain_machine();
  machine.links.d2h.latency = {4};
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {40});
  builder.copy(store(0, 6, {forward, Edge::end}));
  builder.copy(store(1, 6, {forward, Edge::end}));
  builder.copy(store(2, 6, {backward, Edge::end}));
  SECTION("one stream") {
    const Simulated result = simulate(builder.finish(one_stream), machine);
    REQUIRE(at(result.span(StepKind::store_saved, 0), 10, 20));  // 4 + 6
    REQUIRE(at(result.span(StepKind::store_saved, 1), 20, 30));  // 4 + 6
    REQUIRE(at(result.span(StepKind::store_saved, 2), 50, 60));  // 4 + 6
  }
  SECTION("several streams") {
    const Simulated result = simulate(builder.finish(many_streams), machine);
    REQUIRE(at(result.span(StepKind::store_saved, 0), 10, 20));  // the lane's first: 4 + 6
    REQUIRE(at(result.span(StepKind::store_saved, 1), 20, 26));  // back to back: 6
    REQUIRE(at(result.span(StepKind::store_saved, 2), 50, 60));  // after a gap: 4 + 6
  }
}

TEST_CASE("a copy's time is rounded up") {
  Machine machine = plain_machine();
  machine.links.d2h.rate = {3'000'000'000};
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  builder.copy(store(0, 10, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(at(result.span(StepKind::store_saved, 0), 10, 14));  // ceil(10 / 3) = 4
}

TEST_CASE("counters say what was copied, and whether it came in time") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {10});
  builder.wait(forward, builder.copy(load(0, 0, {})));                        // 0 bytes: there at 0
  builder.wait(backward, builder.copy(load(1, 11, {forward, Edge::ready})));  // ready at 10, there at 11
  builder.copy(store(0, 5, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(
      result.timeline.counters ==
      std::map<std::string, std::int64_t>{
          {"copies", 3}, {"bytes_h2d", 11}, {"bytes_d2h", 5}, {"prefetch_on_time", 1}, {"prefetch_late", 1}});
}

TEST_CASE("spans are told by begin, then lane") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  builder.compute(StepKind::backward, 0, {5});
  builder.copy(store(0, 1, {forward, Edge::end}));
  builder.copy(load(1, 1, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  std::vector<StepKind> kinds;
  for (const Span& span : result.timeline.spans) kinds.push_back(span.kind);
  REQUIRE(kinds == std::vector<StepKind>{StepKind::forward, StepKind::backward, StepKind::load_weights,
                                         StepKind::store_saved});
  REQUIRE(result.timeline.source == "simulated");
}

TEST_CASE("one engine simulates many programs, each as if it were the first") {
  Engine engine(plain_machine());
  const auto program = [](std::int64_t bytes) {
    ProgramBuilder builder;
    const StepId forward = builder.compute(StepKind::forward, 0, {10});
    builder.copy(store(0, bytes, {forward, Edge::end}));
    builder.initial({Space::device, BufferKind::resident, {}, {}, {bytes}});
    return builder.finish(one_stream);
  };
  const Run first = engine.simulate(program(8)).run;
  REQUIRE(engine.simulate(program(1000)).run.peaks.device == Bytes{1000});
  REQUIRE(engine.simulate(program(8)).run == first);
}

TEST_CASE("a step beyond 292 years is refused") {
  Machine machine = plain_machine();
  machine.links.d2h.rate = {1};
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  // Each takes 5e9 s, which 63 bits of nanoseconds hold; together they are 317 years.
  builder.copy(store(0, 5'000'000'000, {forward, Edge::end}));
  builder.copy(store(1, 5'000'000'000, {forward, Edge::end}));
  REQUIRE_THROWS_AS(Engine(machine).simulate(builder.finish(one_stream)), InputError);
}
