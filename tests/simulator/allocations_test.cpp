// The inner loop allocates nothing: what a simulation needs is there before its first step.
#include "tests/simulator/allocations.h"

#include "plan/compiler.h"
#include "simulator/engine.h"
#include "simulator/evaluator.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

template <class Function>
std::size_t allocations_of(Function&& function) {
  const std::size_t before = tests::allocations.count;
  function();
  return tests::allocations.count - before;
}

// Copies both ways, of activations and of weights.
Program busy_program(std::int64_t blocks) {
  Settings settings;
  settings.policy = Policy::offload;
  settings.swap = {blocks / 2, SwapWhich::spread, SwapMode::two_way};
  const BlockTable table(example_profile(blocks));
  return compile(table, expand(table, settings).plan);
}

}  // namespace

// One array of times, one entry a step.
TEST_CASE("a first simulation allocates one array, however long the chain is") {
  for (std::int64_t blocks : {20, 40, 400}) {
    const Program program = busy_program(blocks);
    Engine engine(plain_machine());
    Evaluator evaluator(plain_machine());
    REQUIRE(allocations_of([&] { engine.simulate(program); }) == 1);
    REQUIRE(allocations_of([&] { evaluator.evaluate(program); }) == 1);
  }
}

TEST_CASE("a simulation that is not the first allocates nothing") {
  Machine sharing = plain_machine(), caching = plain_machine();
  sharing.links.duplex = 0.5;
  caching.arena = ArenaKind::caching;
  const Program longer = busy_program(40), shorter = busy_program(20);
  for (const Machine& machine : {plain_machine(), sharing, caching}) {
    Engine engine(machine);
    engine.simulate(longer);
    REQUIRE(allocations_of([&] { engine.simulate(longer); }) == 0);
    REQUIRE(allocations_of([&] { engine.simulate(shorter); }) == 0);
  }
}

// In which an arena has many segments that are free at the end, and its lists of them many chunks.
TEST_CASE("long chains in a caching arena allocate nothing more either") {
  Profile profile = example_profile(500);
  for (SavedTensor& saved : profile.blocks[0].saved) saved.bytes = saved.bytes * (1 << 20);  // 12 and 8 MiB
  const BlockTable table(profile);
  const Program program = compile(table, expand(table, {}).plan);
  Machine machine = plain_machine();
  machine.arena = ArenaKind::caching;
  Engine engine(machine);
  engine.simulate(program);
  REQUIRE(allocations_of([&] { engine.simulate(program); }) == 0);
}

// One record for each size of buffer that there is: 12, 8 and 5 bytes.
TEST_CASE("a pool of pinned memory allocates by sizes, not by steps") {
  std::size_t before = 0;
  for (std::int64_t blocks : {20, 40, 400}) {
    Program program = busy_program(blocks);
    program.pinned.bytes = Bytes{1'000'000};
    Engine engine(plain_machine());
    engine.simulate(program);
    const std::size_t count = allocations_of([&] { engine.simulate(program); });
    if (before > 0) REQUIRE(count == before);
    before = count;
  }
  REQUIRE(before > 0);
}

TEST_CASE("a compiler gives what compile() gives, whatever it compiled before") {
  Compiler compiler;
  for (std::int64_t blocks : {9, 3, 6}) {
    const BlockTable table(example_profile(blocks));
    for (Policy policy : {Policy::keep, Policy::offload, Policy::recompute_offload}) {
      Settings settings;
      settings.policy = policy;
      settings.interval = 2;
      settings.swap = {2, SwapWhich::first, SwapMode::two_way};
      const Plan plan = expand(table, settings).plan;
      const Program once = compile(table, plan);
      const Program& again = compiler.compile(table, plan);
      REQUIRE(describe(again) == describe(once));
      REQUIRE(Engine(plain_machine()).simulate(again).run == Engine(plain_machine()).simulate(once).run);
      REQUIRE(again.buffers.size() == once.buffers.size());
      REQUIRE(again.effects.size() == once.effects.size());
    }
  }
}
