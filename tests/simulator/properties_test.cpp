// What holds for every chain, plan and machine: settings and free plans, with layers that stream,
// micro-batches, an optimizer elsewhere, and a disk.
#include <algorithm>
#include <string>

#include "plan/block_table.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "tests/simulator/random_plan.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Each with the program of its settings, or of a free plan.
template <class Property>
void for_cases(Property&& property) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::rich_case(seed);
    CAPTURE(describe(random.settings));
    property(random, compiled(random, seed));
  }
}

Bytes level_at_end(const std::vector<MemorySample>& curve) {
  return curve.empty() ? Bytes{} : curve.back().bytes;
}

// With one stream a direction every copy pays the latency. With several, and with a disk, it can be paid for
// a gap that slower work before it would not have left: then only links without latency can be compared.
void make_monotone(Machine& machine, const Program& program) {
  for (Link* link : {&machine.disk->read, &machine.disk->write}) link->latency = {};
  for (Lane lane : {Lane::h2d, Lane::d2h})
    if (!program.single_stream[static_cast<int>(lane)])
      machine.links.h2d.latency = machine.links.d2h.latency = {};
}

void raise_rate(Link& link, std::int64_t times) {
  link.rate.bytes_per_second *= times;
  for (CurvePoint& point : link.curve) point.rate.bytes_per_second *= times;
}

// The work of a program's lanes, each by itself.
std::array<Nanos, lane_count> work_of(const Program& program, const Machine& machine) {
  const Link* const links[] = {nullptr, &machine.links.h2d, &machine.links.d2h, &machine.disk->read,
                               &machine.disk->write};
  std::array<Nanos, lane_count> work{};
  for (const Step& step : program.steps) {
    const int lane = static_cast<int>(step.lane);
    work[lane] += step.is_copy() ? links[lane]->time_for(step.bytes) : step.duration;
  }
  return work;
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
  for_cases([](const reference::Case& random, const Program& program) {
    const Simulated result = simulate(program, random.machine);
    REQUIRE(level_at_end(result.timeline.memory.device) == left_behind(program, Space::device));
    REQUIRE(level_at_end(result.timeline.memory.host) == left_behind(program, Space::host));
    REQUIRE(level_at_end(result.timeline.memory.disk) == left_behind(program, Space::disk));
  });
}

TEST_CASE("a step takes at least the work of each of its lanes") {
  for_cases([](const reference::Case& random, const Program& program) {
    const Run run = simulate(program, random.machine).run();
    const std::array<Nanos, lane_count> work = work_of(program, random.machine);
    REQUIRE(run.compute == work[0]);
    for (Nanos lane : work) REQUIRE(run.step >= lane);
  });
}

TEST_CASE("more bandwidth is never slower, on lanes that share nothing") {
  for_cases([](const reference::Case& random, const Program& program) {
    Machine machine = random.machine;
    make_monotone(machine, program);
    Nanos before = simulate(program, machine).run().step;
    for (Link* link : {&machine.links.h2d, &machine.links.d2h, &machine.disk->read, &machine.disk->write}) {
      raise_rate(*link, 2);
      const Nanos after = simulate(program, machine).run().step;
      REQUIRE(after <= before);
      before = after;
    }
  });
}

// One entry of `count` blocks, or `count` entries with names of their own in any order.
TEST_CASE("permuting equal blocks changes nothing") {
  std::uint64_t seed = 0;
  for_cases([&](reference::Case random, const Program& program) {
    const Simulated folded = simulate(program, random.machine);
    random.profile.blocks = random.profile.expanded();
    for (std::size_t i = 0; i < random.profile.blocks.size(); ++i)
      random.profile.blocks[i].name = "block." + std::to_string(random.profile.blocks.size() - i);
    const Simulated unfolded = simulate(compiled(random, seed++), random.machine);
    REQUIRE(unfolded.timeline == folded.timeline);
  });
}

TEST_CASE("shared rates are never faster") {
  for_cases([](const reference::Case& random, const Program& program) {
    Machine machine = random.machine;
    make_monotone(machine, program);
    const Nanos alone = simulate(program, machine).run().step;
    machine.links.duplex = 0.8;
    machine.links.compute_slowdown = 0.25;
    REQUIRE(simulate(program, machine).run().step >= alone);
  });
}
