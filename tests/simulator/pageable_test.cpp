// Host memory that is not pinned: copies that hold compute, and what pinning costs. One byte takes one
// nanosecond to and from pinned memory, two to and from pageable memory.
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

Machine slow_pages() {
  Machine machine = plain_machine();
  machine.links.pageable = {500'000'000};
  return machine;
}

TransferSettings buckets_at_most(std::int64_t most) {
  return {1, 1, 1, most, {}};
}

// Away at `out`, and back at `in`: a host buffer lives from the store's issue to the restore's end.
struct Trip {
  CopyId away, back;
};
Trip trip(ProgramBuilder& builder, std::uint32_t block, std::int64_t bytes, Trigger out, Trigger in) {
  const BufferId host = builder.buffer({Space::host, BufferKind::saved, block, 0, {bytes}});
  const CopyId away = builder.copy(store(block, bytes, out));
  builder.alloc_at_issue(host, away);
  const CopyId back = builder.copy(restore(block, bytes, in), away);
  builder.free_after(host, back);
  return {away, back};
}

bool copied_at(const Span& span, std::int64_t begin, std::int64_t end, bool pageable) {
  return at(span, begin, end) && span.pageable == pageable;
}

}  // namespace

// Store 10..30, forward 1 from 30; the restore is issued then, waits for that step and runs 40..60.
TEST_CASE("a pageable copy runs alone") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId second = builder.compute(StepKind::forward, 1, {10});
  builder.compute(StepKind::backward, 1, {10});
  trip(builder, 0, 10, {first, Edge::end}, {second, Edge::begin});
  const Simulated result = simulate(builder.finish(buckets_at_most(0)), slow_pages());
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 30, true));
  REQUIRE(at(result.span(StepKind::forward, 1), 30, 40));
  REQUIRE(copied_at(result.span(StepKind::restore_saved, 0), 40, 60, true));
  REQUIRE(at(result.span(StepKind::backward, 1), 60, 70));
  REQUIRE(result.run().stall() == Nanos{40});
  REQUIRE(result.run().stalls[static_cast<int>(StallCause::pageable)] == Nanos{40});
  REQUIRE(result.run().peaks.host == Bytes{10});
  REQUIRE(result.run().peaks.host_pinned == Bytes{0});
}

TEST_CASE("the same copy, pinned, holds nobody") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId second = builder.compute(StepKind::forward, 1, {10});
  builder.compute(StepKind::backward, 1, {10});
  trip(builder, 0, 10, {first, Edge::end}, {second, Edge::begin});
  const Simulated result = simulate(builder.finish(one_stream), slow_pages());
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 20, false));
  REQUIRE(copied_at(result.span(StepKind::restore_saved, 0), 20, 30, false));
  REQUIRE(result.run().stall() == Nanos{0});
}

// A load runs 0..25 beside it all; the pageable restore behind it is ready at 25, in the middle of the second
// forward (20..40), and goes before the third.
TEST_CASE("a pageable copy holds compute only once its turn has come") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  builder.compute(StepKind::forward, 1, {10});
  builder.compute(StepKind::forward, 2, {20});
  builder.compute(StepKind::forward, 3, {10});
  builder.copy(load(9, 45, {}));
  trip(builder, 0, 5, {first, Edge::begin}, {first, Edge::end});
  const Simulated result = simulate(builder.finish(buckets_at_most(0)), slow_pages());
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 20, true));  // issued at 0, while a step runs
  REQUIRE(at(result.span(StepKind::forward, 2), 30, 50));                   // 10 later than it might
  REQUIRE(copied_at(result.span(StepKind::load_weights, 9), 0, 45, false));
  REQUIRE(copied_at(result.span(StepKind::restore_saved, 0), 50, 60, true));  // ready at 45
  REQUIRE(at(result.span(StepKind::forward, 3), 60, 70));
}

// Both are ready while the second forward runs, 30..50: the store of block 1 at 30, the restore of block 0
// only when the load ends at 40. They follow each other in that order, before the third forward.
TEST_CASE("of two pageable copies the one that was ready first goes first") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId second = builder.compute(StepKind::forward, 1, {20});
  builder.compute(StepKind::forward, 2, {10});
  builder.copy(load(9, 40, {}));
  trip(builder, 0, 10, {first, Edge::end}, {first, Edge::end});
  const CopyId other = builder.copy(store(1, 5, {second, Edge::begin}));
  builder.alloc_at_issue(builder.buffer({Space::host, BufferKind::saved, 1, 0, {5}}), other);
  const Simulated result = simulate(builder.finish(buckets_at_most(0)), slow_pages());
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 30, true));
  REQUIRE(at(result.span(StepKind::forward, 1), 30, 50));
  REQUIRE(copied_at(result.span(StepKind::store_saved, 1), 50, 60, true));
  REQUIRE(copied_at(result.span(StepKind::restore_saved, 0), 60, 80, true));
  REQUIRE(at(result.span(StepKind::forward, 2), 80, 90));
}

TEST_CASE("pageable copies are never quicker than the link") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  trip(builder, 0, 10, {first, Edge::end}, {first, Edge::end});
  Machine machine = plain_machine();
  machine.links.pageable = {9'000'000'000};
  const Simulated result = simulate(builder.finish(buckets_at_most(0)), machine);
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 20, true));
  REQUIRE(result.run().stalls[static_cast<int>(StallCause::drain)] == Nanos{20});
}

// 100 B and 60 B may not both be pinned: what is asked for first is.
TEST_CASE("what the machine does not let a plan pin is pageable") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId last = builder.compute(StepKind::backward, 0, {200});
  trip(builder, 0, 100, {first, Edge::end}, {last, Edge::end});
  trip(builder, 1, 60, {first, Edge::end}, {last, Edge::end});
  Machine machine = slow_pages();
  machine.host.pinned_limit = {150};
  const Simulated result = simulate(builder.finish(one_stream), machine);
  // The second store's turn comes at 110, while the last step runs, until 210.
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 10, 110, false));
  REQUIRE(copied_at(result.span(StepKind::store_saved, 1), 210, 330, true));
  REQUIRE(result.run().peaks.host_pinned == Bytes{100});
  REQUIRE(result.timeline.counters.at("pinned_allocation_failures") == 1);
  REQUIRE(result.timeline.counters.at("pageable_copies") == 2);
}

// One bucket: A (30 B) has it, the first B (20 B) does not get it, the second B takes it from A.
TEST_CASE("a bucket that is asked for more often takes the place of another") {
  ProgramBuilder builder;
  std::vector<StepId> steps;
  for (std::uint32_t block = 0; block < 3; ++block)
    steps.push_back(builder.compute(StepKind::forward, block, {100}));
  const StepId last = builder.compute(StepKind::backward, 0, {10});
  for (std::uint32_t block = 0; block < 3; ++block)
    trip(builder, block, block == 0 ? 30 : 20, {steps[block], Edge::end}, {last, Edge::end});
  const Simulated result = simulate(builder.finish(buckets_at_most(1)), slow_pages());
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 100, 130, false));
  REQUIRE(copied_at(result.span(StepKind::store_saved, 1), 200, 240, true));
  REQUIRE(copied_at(result.span(StepKind::store_saved, 2), 340, 360, false));
  REQUIRE(!result.span(StepKind::restore_saved, 0).pageable);  // its buffer stays pinned until it returns
  REQUIRE(result.timeline.counters.at("pinned_cap_misses") == 1);
  REQUIRE(result.timeline.counters.at("pinned_evictions") == 1);
  REQUIRE(result.timeline.counters.at("pinned_dropped_releases") == 1);
}

// 3 ns a buffer and a nanosecond for two bytes: 10 B take 8 ns, 20 B 13. Each store begins when its own
// buffer is pinned, the next forward when both are.
TEST_CASE("pinning holds the compute lane") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId second = builder.compute(StepKind::forward, 1, {50});
  trip(builder, 0, 10, {first, Edge::end}, {second, Edge::end});
  trip(builder, 1, 20, {first, Edge::end}, {second, Edge::end});
  Machine machine = plain_machine();
  machine.host.pinning = {{3}, Rate{2'000'000'000}};
  const Simulated result = simulate(builder.finish(one_stream), machine);
  REQUIRE(copied_at(result.span(StepKind::store_saved, 0), 18, 28, false));
  REQUIRE(copied_at(result.span(StepKind::store_saved, 1), 31, 51, false));
  REQUIRE(at(result.span(StepKind::forward, 1), 31, 81));
  REQUIRE(result.run().stalls[static_cast<int>(StallCause::pinning)] == Nanos{21});
}

TEST_CASE("a pool that earlier steps have left pins nothing anew") {
  ProgramBuilder builder;
  const StepId first = builder.compute(StepKind::forward, 0, {10});
  const StepId second = builder.compute(StepKind::forward, 1, {50});
  trip(builder, 0, 10, {first, Edge::end}, {second, Edge::end});
  Machine machine = plain_machine();
  machine.host.pinning = {{3}, {}};
  const Program program = builder.finish(one_stream);
  PinnedBuckets pool(machine.host.pinned_rounding);
  Engine engine(machine);
  Timeline timeline;
  for (const std::int64_t stall : {3, 0, 0}) {
    const PinnedReport before = pool.report();
    const Outcome outcome = engine.simulate(program, pool, timeline);
    REQUIRE(outcome.run.stalls[static_cast<int>(StallCause::pinning)] == Nanos{stall});
    REQUIRE(verify(timeline, program, machine, {}, &before) == std::vector<std::string>{});
  }
  REQUIRE(pool.report().totals.served == PinnedServed{3, 3, 2, 1});
}

// The copy that reads a buffer ends at 130: the store that is issued at 120 needs another, the one at 140 has
// it.
TEST_CASE("a buffer returns when the copy that reads it has ended") {
  ProgramBuilder builder;
  std::vector<StepId> steps;
  for (std::uint32_t block = 0; block < 4; ++block)
    steps.push_back(builder.compute(StepKind::forward, block, {block == 3 ? 100 : block == 0 ? 100 : 20}));
  trip(builder, 0, 15, {steps[0], Edge::end}, {steps[0], Edge::end});
  trip(builder, 1, 15, {steps[1], Edge::end}, {steps[3], Edge::end});
  trip(builder, 2, 15, {steps[2], Edge::end}, {steps[3], Edge::end});
  const Simulated result = simulate(builder.finish(one_stream), plain_machine());
  REQUIRE(copied_at(result.span(StepKind::restore_saved, 0), 115, 130, false));
  REQUIRE(result.timeline.counters.at("pinned_allocations") == 2);
  REQUIRE(result.timeline.counters.at("pinned_reuses") == 1);
}
