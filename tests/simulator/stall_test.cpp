// Why the compute lane stands still. One byte takes one nanosecond.
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

using Stalls = std::vector<Stall>;

}  // namespace

// The restore is issued at 0 and takes 25; the backward is ready at 10.
TEST_CASE("a stall while activations come back") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 3, {20});
  builder.wait(backward, builder.copy(restore(3, 25, {})));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls == Stalls{{StallCause::restore, 3, {10}, {25}}});
  REQUIRE(result.run().stalls == std::array<Nanos, stall_cause_count>{Nanos{15}, {}, {}, {}});
}

// Loads before it on the lane are as much to blame: weights 0..18, the restore 18..25.
TEST_CASE("a stall is what the lane to the device does") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 3, {20});
  builder.copy(load(9, 18, {}));
  builder.wait(backward, builder.copy(restore(3, 7, {})));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls ==
          Stalls{{StallCause::weights, 3, {10}, {18}}, {StallCause::restore, 3, {18}, {25}}});
}

// The store is issued at 10 and ends at 40; only then does the restore of 30 start.
TEST_CASE("a stall while a restore waits for its own store") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {20});
  const CopyId stored = builder.copy(store(0, 30, {forward, Edge::end}));
  builder.wait(backward, builder.copy(restore(0, 30, {forward, Edge::end}), stored));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls ==
          Stalls{{StallCause::store, 0, {10}, {40}}, {StallCause::restore, 0, {40}, {70}}});
}

// The same with weights: a load waits for the store of what the forward changed.
TEST_CASE("a stall while a load waits for a store of the same weights") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {20});
  const CopyId stored = builder.copy(store_weights(0, 6, {forward, Edge::end}));
  builder.wait(backward, builder.copy(load(0, 6, {forward, Edge::end}), stored));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls ==
          Stalls{{StallCause::store, 0, {10}, {16}}, {StallCause::weights, 0, {16}, {22}}});
}

// Compute waits for the store itself, while an unrelated load keeps the other lane busy.
TEST_CASE("a step that waits for a store alone is kept by the store") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {30});
  builder.wait(backward, builder.copy(store(0, 5, {forward, Edge::end})));
  builder.copy(load(1, 40, {}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls == Stalls{{StallCause::store, 0, {10}, {15}}});
}

// A step that waits for both: the restore until 14, the store until 22.
TEST_CASE("once all has arrived, stores are left") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  const StepId backward = builder.compute(StepKind::backward, 0, {30});
  builder.wait(backward, builder.copy(store(0, 12, {forward, Edge::end})));
  builder.wait(backward, builder.copy(restore(1, 14, {})));
  builder.copy(load(2, 9, {}));  // goes on behind the restore, and is not to blame
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls ==
          Stalls{{StallCause::restore, 0, {10}, {14}}, {StallCause::store, 0, {14}, {22}}});
}

TEST_CASE("the step ends when the last copy has ended") {
  ProgramBuilder builder;
  const StepId forward = builder.compute(StepKind::forward, 0, {10});
  builder.copy(store(0, 30, {forward, Edge::end}));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.run().step == Nanos{40});
  REQUIRE(result.timeline.stalls == Stalls{{StallCause::drain, {}, {10}, {40}}});
}

// Two steps of one block wait in turn, with a step of no length between: two stalls, not one.
TEST_CASE("stalls of different steps stay apart") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::recompute, 0, {0});
  const StepId second = builder.compute(StepKind::backward, 0, {1});
  builder.wait(first, builder.copy(load(0, 5, {})));
  builder.wait(second, builder.copy(load(1, 5, {})));
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(result.timeline.stalls ==
          Stalls{{StallCause::weights, 0, {0}, {5}}, {StallCause::weights, 0, {5}, {10}}});
}
