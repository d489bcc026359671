// Runs on a machine with a caching arena: what is reserved, and why memory runs out.
#include <algorithm>

#include "simulator/caching_arena.h"
#include "simulator/engine.h"
#include "simulator/replay.h"
#include "simulator/request_log.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "tests/simulator/random_plan.h"
#include "tests/simulator/random_program.h"

using namespace stowage;
using namespace stowage::tests;

namespace reservation_test {

constexpr std::int64_t mib = 1 << 20;
constexpr StepId forward = 0, backward = 1;

Machine caching(std::int64_t memory = std::int64_t{1} << 60, const ArenaOptions& options = {}) {
  Machine machine = plain_machine();
  machine.arena = ArenaKind::caching;
  machine.arena_options = options;
  machine.device.memory = {memory};
  return machine;
}

Buffer workspace(std::int64_t bytes) {
  return {Space::device, BufferKind::workspace, 0, {}, {bytes}};
}

// Forward 0..5 with 9 + 2 + 9 MiB, of which the 9s go, backward 5..10 with 20 MiB.
Program holes() {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.compute(StepKind::backward, 0, {5});
  for (const auto& [bytes, last] :
       {std::pair(9 * mib, forward), std::pair(2 * mib, backward), std::pair(9 * mib, forward)}) {
    const BufferId id = builder.buffer(workspace(bytes));
    builder.alloc(id, {forward, Edge::begin});
    builder.free(id, {last, Edge::end});
  }
  const BufferId large = builder.buffer(workspace(20 * mib));
  builder.alloc(large, {backward, Edge::begin});
  builder.free(large, {backward, Edge::end});
  return builder.finish(one_stream);
}

const OutOfMemory& shortage(const Outcome& outcome) {
  return std::get<OutOfMemory>(outcome.verdict);
}

// 9 + 2 + 9 share a segment of 20. When the 9s are gone, 20 do not fit into the 9s that are left: 20 more.
TEST_CASE("reserved memory is what the arena takes, live memory what is in use") {
  const Simulated result = simulate(holes(), caching());
  REQUIRE(result.run().peaks.device == Bytes{22 * mib});
  REQUIRE(result.run().peaks.device_reserved == Bytes{40 * mib});
  using Curve = std::vector<MemorySample>;
  REQUIRE(result.timeline.memory.device == Curve{{{0}, {20 * mib}}, {{5}, {22 * mib}}, {{10}, {0}}});
  REQUIRE(result.timeline.memory.allocated == Curve{{{0}, {20 * mib}}, {{5}, {22 * mib}}, {{10}, {0}}});
  REQUIRE(result.timeline.memory.reserved == Curve{{{0}, {20 * mib}}, {{5}, {40 * mib}}});
  REQUIRE(parse_timeline(to_json(result.timeline)) == result.timeline);
}

TEST_CASE("verify finds curves that the arena would not draw") {
  const Program program = holes();
  const Timeline right = simulate(program, caching()).timeline;
  const auto findings = [&](const Timeline& timeline, const Machine& machine) {
    return verify(timeline, program, machine, {});
  };
  REQUIRE(findings(right, caching()).empty());
  Timeline wrong = right;
  wrong.memory.reserved[1].bytes -= Bytes{1};
  REQUIRE(findings(wrong, caching()) ==
          std::vector<std::string>{"reserved memory: the curve has 41943039 B at 5 ns where the arena has "
                                   "41943040 B at 5 ns"});
  wrong = right;
  wrong.memory.allocated.pop_back();
  REQUIRE(
      findings(wrong, caching()) ==
      std::vector<std::string>{"allocated memory: the curve has nothing where the arena has 0 B at 10 ns"});
  REQUIRE(findings(right, plain_machine()).size() == 2);  // an ideal arena has no such curves
}

// In 39 MiB the segment of 20 can not be given back for another 20: 2 of it are in use. 37 are free.
TEST_CASE("memory may run out for fragmentation alone") {
  const Outcome outcome = simulate(holes(), caching(39 * mib)).outcome;
  REQUIRE(shortage(outcome).step == backward);
  REQUIRE(shortage(outcome).at == Nanos{5});
  REQUIRE(shortage(outcome).needed == Bytes{20 * mib});
  REQUIRE(shortage(outcome).free == Bytes{37 * mib});
  REQUIRE(shortage(outcome).fragmentation());
  // Pages of 20: 9 + 2 + 9 in the first, 20 in a second; two pages are 40, too.
  REQUIRE(shortage(outcome).arena ==
          ArenaShortage{{2 * mib}, {2 * mib}, {20 * mib}, {9 * mib}, {40 * mib}, false});
  REQUIRE(std::holds_alternative<Ran>(simulate(holes(), caching(40 * mib)).outcome.verdict));
}

// 2 are live and 20 asked for: 21 can never do.
TEST_CASE("memory may run out for want of memory") {
  const Outcome outcome = simulate(holes(), caching(21 * mib)).outcome;
  REQUIRE(shortage(outcome).free == Bytes{19 * mib});
  REQUIRE(!shortage(outcome).fragmentation());
  REQUIRE(shortage(outcome).arena->live == Bytes{2 * mib});
}

// A segment of 30, wholly free, is given back for one of 32: within 40 MiB that is once.
TEST_CASE("a run may go on because cached memory is given back") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.compute(StepKind::backward, 0, {5});
  for (const auto& [bytes, step] : {std::pair(30 * mib, forward), std::pair(32 * mib, backward)}) {
    const BufferId id = builder.buffer(workspace(bytes));
    builder.alloc(id, {step, Edge::begin});
    builder.free(id, {step, Edge::end});
  }
  const Program program = builder.finish(one_stream);
  const Outcome outcome = simulate(program, caching(40 * mib)).outcome;
  REQUIRE(outcome.verdict == Verdict{Ran{1}});
  REQUIRE(outcome.run.peaks.device_reserved == Bytes{62 * mib});  // as if memory had no limit
  REQUIRE(simulate(program, caching(62 * mib)).outcome.verdict == Verdict{Ran{0}});
  REQUIRE(shortage(simulate(program, caching(31 * mib)).outcome).needed == Bytes{32 * mib});
}

// Twenty buffers of 11 MiB take a segment of 12 each; 1 MiB of each is lost. Then one of 13 is asked for.
//   segments       20 * 12 + 14 = 254
//   expandable     20 * 11      = 220, and 13 more make a page: 240
TEST_CASE("a shortage tells whether expandable segments would do") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.compute(StepKind::backward, 0, {5});
  const auto live = [&](std::int64_t bytes, StepId first, StepId last) {
    const BufferId id = builder.buffer(workspace(bytes));
    builder.alloc(id, {first, Edge::begin});
    builder.free(id, {last, Edge::end});
  };
  for (int i = 0; i < 20; ++i) live(11 * mib, forward, backward);
  live(13 * mib, backward, backward);
  const Program program = builder.finish(one_stream);
  REQUIRE(simulate(program, caching()).run().peaks.device_reserved == Bytes{254 * mib});
  const Machine expandable = caching(240 * mib, {true, {}});
  REQUIRE(simulate(program, expandable).run().peaks.device_reserved == Bytes{240 * mib});
  REQUIRE(std::holds_alternative<Ran>(simulate(program, expandable).outcome.verdict));
  const Outcome outcome = simulate(program, caching(240 * mib)).outcome;
  REQUIRE(
      shortage(outcome).fragmentation());  // 13 are needed, 240 - 220 free, and 20 * 1 lie in the segments
  REQUIRE(shortage(outcome).free == Bytes{20 * mib});
  REQUIRE(shortage(outcome).arena->enough == Bytes{254 * mib});
  REQUIRE(shortage(outcome).arena->expandable_would_do);
}

TEST_CASE("host and pinned memory run out as on any machine") {
  ProgramBuilder builder;
  builder.compute(StepKind::forward, 0, {5});
  builder.initial({Space::host, BufferKind::weights, 0, {}, {300}});
  builder.initial(workspace(mib));
  Machine machine = caching(2 * mib);
  machine.host.memory = {299};
  const Outcome outcome = simulate(builder.finish(one_stream), machine).outcome;
  REQUIRE(shortage(outcome).space == MemorySpace::host);
  REQUIRE(!shortage(outcome).arena);
}

TEST_CASE("verify agrees with the arena on random programs, whatever its options") {
  int more = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    Machine machine = random_machine(seed, seed % 2 == 1);
    machine.arena = ArenaKind::caching;
    machine.arena_options = {seed % 4 > 1, {static_cast<std::int64_t>(seed % 3) * 4}};
    Program program = random_program(seed);
    for (Buffer& buffer : program.buffers)
      if (buffer.space == Space::device) buffer.bytes = buffer.bytes * 50'021;  // up to 15 MB
    const Simulated result = simulate(program, machine);
    const Peaks& peaks = result.run().peaks;
    REQUIRE(peaks.device <= peaks.device_reserved);
    REQUIRE(peak(result.timeline.memory.reserved) == peaks.device_reserved);
    more += peaks.device_reserved > Bytes{2 * mib};
  }
  REQUIRE(more > 50);
}

// Sizes of MiB instead of bytes, so that all pools are used.
TEST_CASE("reserved is never less than allocated, and that never less than live") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::rich_case(seed);
    for (BlockProfile& block : random.profile.blocks)
      for (SavedTensor& saved : block.saved) saved.bytes = {saved.bytes.value * 99'991};
    random.machine.arena = ArenaKind::caching;
    const Simulated result = simulate(compiled(random, seed), random.machine);
    const Curves& curves = result.timeline.memory;
    const auto level = [](const std::vector<MemorySample>& curve, Nanos at) {
      Bytes level;
      for (const MemorySample& sample : curve)
        if (sample.at <= at) level = sample.bytes;
      return level;
    };
    for (const auto* curve : {&curves.device, &curves.allocated, &curves.reserved})
      for (const MemorySample& sample : *curve) {
        REQUIRE(level(curves.device, sample.at) <= level(curves.allocated, sample.at));
        REQUIRE(level(curves.allocated, sample.at) <= level(curves.reserved, sample.at));
      }
  }
}

TEST_CASE("a run's journal, recorded and replayed, gives the run's curves") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::rich_case(seed);
    Machine machine = random.machine;
    machine.arena = ArenaKind::caching;
    const Program program = compiled(random, seed);
    Timeline timeline;
    Journal journal;
    Engine(machine).simulate(program, timeline, journal);
    const Journal recorded = parse_journal(to_json(journal));
    IdealArena ideal({INT64_MAX});
    CachingArena caching_arena({INT64_MAX}, {});
    ArenaCurves plain, cached;
    REQUIRE(!replay(recorded.entries, ideal, &plain).refused);
    REQUIRE(!replay(recorded.entries, caching_arena, &cached).refused);
    REQUIRE(plain.reserved == timeline.memory.device);
    REQUIRE(cached.live == timeline.memory.device);
    REQUIRE(cached.allocated == timeline.memory.allocated);
    REQUIRE(cached.reserved == timeline.memory.reserved);
  }
}

}  // namespace reservation_test
