// Reports of reserved memory from the field, with their arithmetic.
#include "simulator/caching_arena.h"
#include "simulator/replay.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace arena_reports_test {

constexpr std::int64_t mib = 1 << 20;
constexpr Bytes no_limit{INT64_MAX};
constexpr std::uint32_t compute = 0, d2h = 2;

Bytes reserved(const std::vector<JournalEntry>& entries, const ArenaOptions& options) {
  CachingArena arena(no_limit, options);
  return replay(entries, arena, nullptr).peaks.reserved;
}

// pytorch#98354: every step of 100 ns makes a source of 100 MiB whose copy to the host ends half way through
// it.
//   record_stream, ten steps in flight: the host is 900 ns ahead. Step j takes the memory of step k only if
//     100 k + 50 + 900 <= 100 j, so k <= j - 10: ten are alive, 1,000 MiB.
//   explicit events and a wait two deep: 100 ns ahead at most. k <= j - 2: two are alive, 200 MiB.
//   no run ahead: k <= j - 1, 100 MiB.
TEST_CASE("record_stream lets a host that runs ahead take memory without end, events do not") {
  std::vector<JournalEntry> entries;
  for (std::uint32_t step = 0; step < 50; ++step) {
    entries.push_back({{100 * step}, step, true, {100 * mib}, compute});
    entries.push_back({{100 * step + 50}, step, false, {}, d2h});
  }
  REQUIRE(reserved(entries, {false, {900}}) == Bytes{1000 * mib});
  REQUIRE(reserved(entries, {false, {100}}) == Bytes{200 * mib});
  REQUIRE(reserved(entries, {false, {0}}) == Bytes{100 * mib});
}

// A training step, too, reserves more: the forward of block 1 cannot have the memory of what block 0 sent
// away.
TEST_CASE("a step with offload reserves more with record_stream than with events") {
  Profile profile;
  BlockProfile block;
  block.name = "block";
  block.count = 8;
  block.times.forward = {100};
  block.times.backward = {200};
  block.saved = {{"saved", {100 * mib}, Scope::other, {}, {}}};
  profile.blocks = {block};
  Settings offload;
  offload.policy = Policy::offload;
  Machine machine = plain_machine();
  machine.links.h2d.rate = machine.links.d2h.rate = {2'000'000'000'000'000};  // 100 MiB in 53 ns
  machine.arena = ArenaKind::caching;
  const Bytes events = simulate(profile, offload, machine).run().peaks.device_reserved;
  machine.arena_options.record_stream_lag = {350};
  const Bytes recorded = simulate(profile, offload, machine).run().peaks.device_reserved;
  // Forward i runs from 100 i, and its store ends at 100 (i + 1) + 53. With events that is before forward i +
  // 2: 2 are alive. With the lag it is 100 i + 503, before forward i + 6: 6.
  REQUIRE(events == Bytes{200 * mib});
  REQUIRE(recorded == Bytes{600 * mib});
}

// NovaSky-AI/SkyRL#1470, in hundredths of a GiB: 124.24 allocated and 15.50 of holes make 139.74 reserved of
// 140. Three segments are taken and partly given up:
//   46.00 = 40.00 + a hole of 6.00      45.50 = 40.00 + 5.50      48.24 = 44.24 + 4.00
Program with_holes(std::int64_t request) {
  constexpr std::int64_t hundredth = 10 * mib;
  ProgramBuilder builder;
  const auto live = [&](std::int64_t size, StepId first, StepId last) {
    const BufferId id = builder.buffer({Space::device, BufferKind::workspace, 0, {}, {size * hundredth}});
    builder.alloc(id, {first, Edge::begin});
    builder.free(id, {last, Edge::end});
  };
  for (int step = 0; step < 7; ++step) builder.compute(StepKind::forward, step, {10});
  live(4600, 0, 0);
  live(4000, 1, 6);
  live(4550, 2, 2);
  live(4000, 3, 6);
  live(4824, 4, 4);
  live(4424, 5, 6);
  live(request, 6, 6);
  return builder.finish(one_stream);
}

OutOfMemory shortage_in_140(std::int64_t request) {
  Machine machine = plain_machine();
  machine.arena = ArenaKind::caching;
  machine.device.memory = {14'000 * 10 * mib};
  return std::get<OutOfMemory>(simulate(with_holes(request), machine).outcome.verdict);
}

// Even in one piece 140 - 124.24 = 15.76 are less than 18.91: 3.15 are missing, and no allocator is to blame.
TEST_CASE("a shortage that no allocator could cure is not called fragmentation") {
  const OutOfMemory real = shortage_in_140(1891);
  REQUIRE(!real.fragmentation());
  REQUIRE(real.needed - real.free == Bytes{315 * 10 * mib});
  REQUIRE(real.arena->live == Bytes{12'424 * 10 * mib});
  REQUIRE(real.arena->reserved == Bytes{13'974 * 10 * mib});
  REQUIRE(!real.arena->expandable_would_do);
}

// 15.00 are less than 15.76, but the largest hole has 6.00. Segments that expand would end at 124.24 + 15.00.
TEST_CASE("a shortage of memory in one piece is fragmentation, and expandable segments cure it") {
  const OutOfMemory fragmented = shortage_in_140(1500);
  REQUIRE(fragmented.fragmentation());
  REQUIRE(fragmented.free == Bytes{1576 * 10 * mib});
  REQUIRE(fragmented.arena->largest_free == Bytes{600 * 10 * mib});
  REQUIRE(fragmented.arena->expandable_would_do);
  REQUIRE(fragmented.arena->enough == Bytes{(13'974 + 1500) * 10 * mib});
}

// torchtune#1185: 16.39 GiB, with expandable segments 10.831. Eight steps with longer and longer samples:
// four buffers each, of 20 + 3n MiB. What one step leaves is too small for the next:
//   segments     4 * (24 + 26 + 30 + 32 + 36 + 38 + 42 + 44) = 1088 MiB
//   expandable   4 * 44 = 176 at the end, in 9 pages of 20: 180 MiB
// In 300 MiB segments do, too, but step after step what is cached has to be given back: StageHand's
// cure, 14.95 GB to 6.00 by emptying the cache after each step.
TEST_CASE("reserved memory grows with the samples unless segments expand") {
  std::vector<JournalEntry> entries;
  for (std::int64_t step = 1; step <= 8; ++step) {
    for (std::uint32_t buffer = 0; buffer < 4; ++buffer)
      entries.push_back({{10 * step}, buffer, true, {(20 + 3 * step) * mib}, compute});
    for (std::uint32_t buffer = 0; buffer < 4; ++buffer)
      entries.push_back({{10 * step + 5}, buffer, false, {}, compute});
  }
  REQUIRE(reserved(entries, {}) == Bytes{1088 * mib});
  REQUIRE(reserved(entries, {true, {}}) == Bytes{180 * mib});
  CachingArena narrow({300 * mib}, {});
  REQUIRE(!replay(entries, narrow, nullptr).refused);
  REQUIRE(narrow.retries() > 0);
}

}  // namespace arena_reports_test
