// What holds for every chain, plan and machine.
#include <algorithm>
#include <string>

#include "plan/block_table.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

template <class Property>
void for_cases(Property&& property) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::random_case(seed);
    CAPTURE(describe(random.settings));
    property(random);
  }
}

template <class Property>
void for_rich_cases(Property&& property) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const reference::Case rich = reference::rich_case(seed);
    CAPTURE(describe(rich.settings));
    property(rich);
  }
}

Program compiled(const reference::Case& random) {
  const BlockTable table(random.profile);
  return compile(table, expand(table, random.settings).plan);
}

Bytes level_at_end(const std::vector<MemorySample>& curve) {
  return curve.empty() ? Bytes{} : curve.back().bytes;
}

// With one stream a direction every copy pays the latency. With several it can be paid for a gap that slower
// work before it would not have left: then only links without latency can be compared.
void make_monotone(reference::Case& random) {
  const TransferSettings& transfer = random.settings.transfer;
  if (transfer.h2d_streams > 1 || transfer.d2h_streams > 1)
    random.machine.links.h2d.latency = random.machine.links.d2h.latency = {0};
}

// What a program leaves in one space: what was there from the start and is never freed.
Bytes left_behind(const Program& program, Space space) {
  Bytes bytes;
  for (BufferId id : program.initial) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.space == space && buffer.kind != BufferKind::activation) bytes += buffer.bytes;
  }
  return bytes;
}

}  // namespace

// Resident bytes, optimizer state and weights, wherever they live, remain; activations and gradients do not.
TEST_CASE("memory returns to its static level") {
  for_rich_cases([](const reference::Case& random) {
    const Program program = compiled(random);
    const Simulated result = simulate(program, random.machine);
    REQUIRE(level_at_end(result.timeline.memory.device) == left_behind(program, Space::device));
    REQUIRE(level_at_end(result.timeline.memory.host) == left_behind(program, Space::host));
    REQUIRE(level_at_end(result.timeline.memory.disk) == left_behind(program, Space::disk));
  });
}

TEST_CASE("a step takes at least the work of each of its lanes") {
  for_rich_cases([](const reference::Case& random) {
    const Simulated result = simulate(random.profile, random.settings, random.machine);
    std::array<Nanos, lane_count> busy{};
    for (const Span& span : result.timeline.spans) busy[static_cast<int>(span.lane)] += span.end - span.begin;
    REQUIRE(result.run().compute == busy[0]);
    for (Nanos lane : busy) REQUIRE(result.run().step >= lane);
  });
}

TEST_CASE("more bandwidth is never slower, on lanes that share nothing") {
  for_cases([](reference::Case random) {
    make_monotone(random);
    const Nanos before = simulate(random.profile, random.settings, random.machine).run().step;
    random.machine.links.h2d.rate.bytes_per_second *= 2;
    REQUIRE(simulate(random.profile, random.settings, random.machine).run().step <= before);
    random.machine.links.d2h.rate.bytes_per_second *= 3;
    REQUIRE(simulate(random.profile, random.settings, random.machine).run().step <= before);
  });
}

// One entry of `count` blocks, or `count` entries with names of their own in any order.
TEST_CASE("permuting equal blocks changes nothing") {
  for_cases([](reference::Case random) {
    const Simulated folded = simulate(random.profile, random.settings, random.machine);
    random.profile.blocks = random.profile.expanded();
    for (std::size_t i = 0; i < random.profile.blocks.size(); ++i)
      random.profile.blocks[i].name = "block." + std::to_string(random.profile.blocks.size() - i);
    const Simulated unfolded = simulate(random.profile, random.settings, random.machine);
    REQUIRE(unfolded.timeline == folded.timeline);
  });
}

TEST_CASE("shared rates are never faster") {
  for_cases([](reference::Case random) {
    make_monotone(random);
    const Nanos alone = simulate(random.profile, random.settings, random.machine).run().step;
    random.machine.links.duplex = 0.8;
    random.machine.links.compute_slowdown = 0.25;
    REQUIRE(simulate(random.profile, random.settings, random.machine).run().step >= alone);
  });
}
