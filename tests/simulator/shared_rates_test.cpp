// Links and compute that slow each other. One byte takes one nanosecond at full speed.
#include "simulator/evaluator.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

Machine sharing(double duplex, double compute_slowdown) {
  Machine machine = plain_machine();
  machine.links.duplex = duplex;
  machine.links.compute_slowdown = compute_slowdown;
  return machine;
}

}  // namespace

// Both run at half speed until the store's 10 B are through at 20; the load has 10 of its 20 B left then.
TEST_CASE("both directions at once leave each its share") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {1});
  builder.copy(load(0, 20, {}));
  builder.copy(store(1, 10, {}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(0.5, 0));
  REQUIRE(at(result.span(StepKind::store_saved, 1), 0, 20));
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 30));
}

// Alone until 6 with 14 left; then at half speed, 10 more ns while the store's 5 B pass: 9 left, alone again.
TEST_CASE("what remains is carried over each change of rate") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {6});
  builder.copy(load(0, 20, {}));
  builder.copy(store(1, 5, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(0.5, 0));
  REQUIRE(at(result.span(StepKind::store_saved, 1), 6, 16));
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 25));
}

// For 12 ns compute does 9 ns of work; the other 21 take 21.
TEST_CASE("a copy slows compute while it is under way") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {30});
  builder.copy(load(0, 12, {}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(1, 0.25));
  REQUIRE(at(result.span(StepKind::forward, 0), 0, 33));
  REQUIRE(result.run().compute == Nanos{33});  // busy that long, so that nothing of it is a stall
  REQUIRE(result.run().stall() == Nanos{0});
}

// Two copies slow it no more than one: 0..12 at three quarters is 9, as above.
TEST_CASE("copies both ways slow compute as one does") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {30});
  builder.copy(load(0, 12, {}));
  builder.copy(store(1, 4, {}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(1, 0.25));
  REQUIRE(at(result.span(StepKind::forward, 0), 0, 33));
}

// 5 ns at 0.7 do 3.5 ns of work, which counts as 3: 7 are left, until 12. Unrounded it would be 11.5.
TEST_CASE("what remains is rounded up") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  builder.copy(load(0, 5, {}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(1, 0.3));
  REQUIRE(at(result.span(StepKind::forward, 0), 0, 12));
}

// Nothing flows before 10. From 10 to 15 compute does 2.5, that is 2; 8 of its 20 are left at 15.
TEST_CASE("a latency slows nobody") {
  Machine machine = sharing(1, 0.5);
  machine.links.h2d.latency = {10};
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {20});
  builder.copy(load(0, 5, {}));
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 15));
  REQUIRE(at(result.span(StepKind::forward, 0), 0, 23));
}

// The load's latency of 10 passes while the store runs at full speed; from 10 both run at half speed.
TEST_CASE("a latency is not slowed") {
  Machine machine = sharing(0.5, 0);
  machine.links.h2d.latency = {10};
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {1});
  builder.copy(load(0, 4, {}));
  builder.copy(store(1, 13, {}));
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(at(result.span(StepKind::store_saved, 1), 0, 16));   // 10, then 3 at half speed
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 17));  // 10, then 3 in 6 ns, then 1
}

// The load has half of its rate while the store is under way, the store always all of its own: 10 ns do 5 B,
// 15 more follow alone.
TEST_CASE("each direction may keep another share") {
  Machine machine = plain_machine();
  machine.links.h2d.duplex = 0.5;
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {1});
  builder.copy(load(0, 20, {}));
  builder.copy(store(1, 10, {}));
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(at(result.span(StepKind::store_saved, 1), 0, 10));
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 25));
  REQUIRE(!Evaluator::serves(machine));
}

// 10 B take 20 ns by the curve, and twice that while the other direction is busy: 15 ns in 30, and 5 more.
TEST_CASE("a curve says how much work a copy is, and shared rates how fast it goes") {
  Machine machine = sharing(0.5, 0);
  machine.links.h2d.curve = {{{10}, {500'000'000}}};
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {1});
  builder.copy(load(0, 10, {}));
  builder.copy(store(1, 15, {}));
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(at(result.span(StepKind::store_saved, 1), 0, 30));
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 35));
}

TEST_CASE("copies of no bytes are over at once, whatever the rates") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {3});
  builder.wait(forward, builder.copy(load(0, 0, {})));
  builder.copy(store(0, 0, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), sharing(0.5, 0.5));
  REQUIRE(at(result.span(StepKind::load_weights, 0), 0, 0));
  REQUIRE(result.run().step == Nanos{3});
}

TEST_CASE("the evaluator refuses machines that share rates") {
  REQUIRE(Evaluator::serves(sharing(1, 0)));
  REQUIRE(!Evaluator::serves(sharing(0.9, 0)));
  REQUIRE(!Evaluator::serves(sharing(1, 0.1)));
  REQUIRE_THROWS_AS(Evaluator(sharing(0.9, 0)), DefectError);
}
