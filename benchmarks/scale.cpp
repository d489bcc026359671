// How the simulator's cost grows with blocks and with tensors a block: time, memory and allocations.
//
// A program step is a compute step or a copy; its begin and its end are an event each. Times are those of one
// core, the best of several batches. Allocations are those of one simulation by an engine that has simulated
// the program once before.
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "benchmarks/processor_time.h"
#include "plan/block_table.h"
#include "plan/compiler.h"
#include "plan/plan.h"
#include "simulator/engine.h"
#include "simulator/evaluator.h"
#include "tests/simulator/allocations.h"

using namespace stowage;
using benchmarks::mebi;
using benchmarks::processor_time_of;

namespace {

Machine machine_with(ArenaKind arena) {
  Machine machine;
  machine.device = {{std::int64_t{1} << 60}, {}};
  machine.host = {{std::int64_t{1} << 60}, {std::int64_t{1} << 60}, PinnedRounding::exact};
  machine.links.h2d = machine.links.d2h = {{26'000'000'000}, {10'000}};
  machine.arena = arena;
  return machine;
}

// As many bytes in so many tensors.
Profile cut(Profile profile, int tensors) {
  for (BlockProfile& block : profile.blocks) {
    block.saved.clear();
    for (int i = 0; i < tensors; ++i)
      block.saved.push_back({"t" + std::to_string(i), {256 * mebi / tensors}, Scope::other, {}, {}});
  }
  return profile;
}

struct Cost {
  double seconds;
  std::size_t allocations;    // of a simulation that is not the first
  std::ptrdiff_t held_bytes;  // from the first simulation on
};

template <class Run>
Cost cost_of(Run&& run) {
  const std::ptrdiff_t before = tests::allocations.held;
  run();
  Cost cost{};
  cost.held_bytes = tests::allocations.held - before;
  const std::size_t allocated = tests::allocations.count;
  run();
  cost.allocations = tests::allocations.count - allocated;
  cost.seconds = processor_time_of(run);
  return cost;
}

void print_row(int blocks, int tensors, const Settings& settings) {
  const BlockTable table(cut(benchmarks::chain(blocks), tensors));
  const Plan plan = expand(table, settings).plan;
  const std::ptrdiff_t before = tests::allocations.held;
  const Program program = compile(table, plan);
  const std::ptrdiff_t program_bytes = tests::allocations.held - before;
  Engine ideal(machine_with(ArenaKind::ideal)), caching(machine_with(ArenaKind::caching));
  Evaluator evaluator(machine_with(ArenaKind::ideal));
  Compiler compiler;
  const Cost engine = cost_of([&] { ideal.simulate(program); });
  const Cost in_arena = cost_of([&] { caching.simulate(program); });
  const Cost evaluated = cost_of([&] { evaluator.evaluate(program); });
  const Cost compiled = cost_of([&] { compiler.compile(table, plan); });
  const auto steps = static_cast<double>(program.steps.size());
  const auto millions = [&](const Cost& cost) { return 2 * steps / cost.seconds / 1e6; };
  const auto bytes = [&](std::ptrdiff_t all) { return static_cast<double>(all) / steps; };
  std::printf("%6d %7d %8.0f %8.1f %9.1f %8.1f %8.1f %8.0f %7.0f %9.0f %6zu %4zu %4zu\n", blocks, tensors,
              steps, millions(engine), millions(evaluated), millions(in_arena), millions(compiled),
              bytes(program_bytes), bytes(engine.held_bytes), bytes(in_arena.held_bytes), engine.allocations,
              in_arena.allocations, evaluated.allocations);
}

void print_growth(const Settings& settings) {
  std::printf("%s\n", describe(settings).c_str());
  std::printf(
      "                         million events a second, one core    bytes a program step      "
      "allocations\n");
  std::printf(
      "blocks tensors    steps   engine evaluator  caching  compile  program  engine   caching engine cach "
      "eval\n");
  for (int blocks : {10, 100, 1000, 10'000}) print_row(blocks, 4, settings);
  for (int tensors : {1, 4, 16, 64}) print_row(100, tensors, settings);
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  Settings settings;
  print_growth(settings);
  settings.policy = Policy::recompute;
  print_growth(settings);
  settings.policy = Policy::offload;
  settings.transfer.prefetch = 2;
  print_growth(settings);
  settings.policy = Policy::recompute;
  settings.swap = {5, SwapWhich::spread, SwapMode::two_way};
  print_growth(settings);
}
