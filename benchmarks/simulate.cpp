// How fast programs are made and simulated: steps a second, settings a second, and growth with the chain.
//
// Each figure is the best of several batches, in time of one core: what the machine can do when left alone.
// Programs are made as a search makes them, one after the other by one compiler.
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "benchmarks/processor_time.h"
#include "plan/block_table.h"
#include "plan/compiler.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/engine.h"
#include "simulator/evaluator.h"

using namespace stowage;
using benchmarks::chain;
using benchmarks::mebi;
using benchmarks::processor_time_of;

namespace {

Machine machine() {
  Machine machine;
  machine.device = {{24'576 * mebi}, {}};
  machine.host = {{65'536 * mebi}, {65'536 * mebi}, PinnedRounding::exact};
  machine.links.h2d = machine.links.d2h = {{26'000'000'000}, {10'000}};
  machine.links.pageable = {9'000'000'000};
  return machine;
}

std::vector<Settings> settings_to_try() {
  std::vector<Settings> all(7);
  all[1].policy = Policy::recompute;
  all[2].policy = Policy::recompute;
  all[2].interval = 2;
  all[2].stride = 4;
  all[3].policy = Policy::offload;
  all[3].transfer.prefetch = 2;
  all[4].policy = Policy::offload;
  all[4].scope = Scope::attention;
  all[5].policy = Policy::recompute_offload;
  all[5].interval = 3;
  all[6].policy = Policy::recompute;
  all[6].swap = {20, SwapWhich::last, SwapMode::two_way};
  return all;
}

// Nanoseconds that one program step takes, in each way of going through it.
struct Cost {
  double engine, shared, evaluator, made;
  std::size_t steps;
};

Cost cost_of(const BlockTable& table, const Settings& settings) {
  Machine sharing = machine();
  sharing.links.duplex = 0.8;
  sharing.links.compute_slowdown = 0.05;
  Engine engine(machine()), shared(sharing);
  Evaluator evaluator(machine());
  Compiler compiler;
  const Program program = compile(table, expand(table, settings).plan);
  const double each = 1e9 / static_cast<double>(program.steps.size());
  return {processor_time_of([&] { engine.simulate(program); }) * each,
          processor_time_of([&] { shared.simulate(program); }) * each,
          processor_time_of([&] { evaluator.evaluate(program); }) * each,
          processor_time_of([&] { compiler.compile(table, expand(table, settings).plan); }) * each,
          program.steps.size()};
}

void print_rates(const BlockTable& table) {
  std::printf("%u blocks, one core          million program steps a second           settings a second,\n",
              table.size());
  std::printf(
      "                            engine  shared rates  evaluator  compile  from settings to figures\n");
  for (const Settings& settings : settings_to_try()) {
    const Cost cost = cost_of(table, settings);
    const double per_settings = (cost.made + cost.evaluator) * static_cast<double>(cost.steps) / 1e9;
    std::printf("%-36s %5zu steps\n", describe(settings).c_str(), cost.steps);
    std::printf("                            %6.1f  %12.1f  %9.1f  %7.1f  %10.0f\n", 1e3 / cost.engine,
                1e3 / cost.shared, 1e3 / cost.evaluator, 1e3 / cost.made, 1 / per_settings);
  }
}

void print_growth() {
  Settings settings;
  settings.policy = Policy::offload;
  std::printf("\ngrowth with the chain (%s), nanoseconds a block\n", describe(settings).c_str());
  std::printf("blocks      engine  evaluator   compile\n");
  for (std::int64_t blocks : {50, 158, 500, 1581, 5000}) {
    const BlockTable table(chain(blocks));
    const Cost cost = cost_of(table, settings);
    const double per_block = static_cast<double>(cost.steps) / static_cast<double>(blocks);
    std::printf("%6d  %10.1f %10.1f %9.1f\n", static_cast<int>(blocks), cost.engine * per_block,
                cost.evaluator * per_block, cost.made * per_block);
  }
}

}  // namespace

int main() {
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  print_rates(BlockTable(chain(57)));
  print_growth();
}
