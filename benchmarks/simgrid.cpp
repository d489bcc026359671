// What the same steps cost SimGrid: the compute lane as executions on one host, copies as communications over
// one link each way, and what waits for what as dependencies of activities. Both tell how long the step
// takes, so that it is seen that they simulate the same. SimGrid says nothing about memory.
#include <algorithm>
#include <cstdio>
#include <simgrid/s4u.hpp>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "benchmarks/processor_time.h"
#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/engine.h"

using namespace stowage;
namespace s4u = simgrid::s4u;
using benchmarks::mebi;
using benchmarks::processor_seconds;

namespace {

// A dependency can be added to either, but not to what they have in common.
using Activity = std::variant<s4u::ExecPtr, s4u::CommPtr>;

constexpr std::int64_t rate = 26'000'000'000;
constexpr std::int64_t latency_ns = 10'000;

Machine machine() {
  Machine machine;
  machine.device = {{std::int64_t{1} << 60}, {}};
  machine.host = {{std::int64_t{1} << 60}, {std::int64_t{1} << 60}, PinnedRounding::exact};
  machine.links.h2d = machine.links.d2h = {{rate}, {latency_ns}};
  return machine;
}

class Grid {
 public:
  Grid() {
    auto* const zone = s4u::create_full_zone("machine");
    device_ = zone->create_host("device", 1e9);  // one operation a nanosecond
    host_ = zone->create_host("host", 1e9);
    connect(zone, "h2d", host_, device_);
    connect(zone, "d2h", device_, host_);
    zone->seal();
  }

  // An activity for each step, in the program's order. None has started.
  std::vector<Activity> activities_of(const Program& program) const {
    std::vector<Activity> activities;
    for (const Step& step : program.steps) {
      if (step.is_copy()) {
        const bool in = step.lane == Lane::h2d;
        auto copy = s4u::Comm::sendto_init(in ? host_ : device_, in ? device_ : host_);
        copy->set_payload_size(static_cast<std::uint64_t>(step.bytes.value));
        activities.push_back(copy);
      } else {
        auto compute = s4u::Exec::init();
        compute->set_flops_amount(static_cast<double>(step.duration.value));
        compute->set_host(device_);
        activities.push_back(compute);
      }
    }
    return activities;
  }

 private:
  static void connect(s4u::NetZone* zone, const char* name, s4u::Host* from, s4u::Host* to) {
    const auto* const link =
        zone->create_link(name, static_cast<double>(rate))->set_latency(latency_ns / 1e9)->seal();
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(link)},
                    false);
  }

  s4u::Host *device_, *host_;
};

// The ends that a step waits for: of the step before it on its lane, of its waits, and of what brings its
// trigger.
std::vector<StepId> dependencies_of(const Program& program, StepId id) {
  std::vector<StepId> all;
  const auto add = [&](StepId step) {
    if (std::find(all.begin(), all.end(), step) == all.end()) all.push_back(step);
  };
  const Step& step = program.steps[id];
  if (id != program.first(step.lane)) add(id - 1);
  for (StepId wait : program.waits_of(id)) add(wait);
  if (!step.is_copy()) return all;
  const Trigger at = step.issue;
  if (at.edge == Edge::end) {
    add(at.step);
    return all;
  }
  if (at.step > 0) add(at.step - 1);
  if (at.edge == Edge::begin)
    for (StepId wait : program.waits_of(at.step)) add(wait);
  return all;
}

struct Cost {
  double made, run;  // seconds of a core
  double step;       // simulated seconds
};

Cost cost_in_simgrid(const s4u::Engine& engine, const Grid& grid, const Program& program) {
  const double simulated = s4u::Engine::get_clock(), start = processor_seconds();
  const std::vector<Activity> activities = grid.activities_of(program);
  for (StepId id = 0; id < program.steps.size(); ++id)
    for (StepId step : dependencies_of(program, id))
      std::visit([](const auto& before, const auto& after) { before->add_successor(after); },
                 activities[step], activities[id]);
  const double made = processor_seconds();
  for (const Activity& each : activities)
    std::visit([](const auto& activity) { activity->vetoable_start(); }, each);
  engine.run();
  return {made - start, processor_seconds() - made, s4u::Engine::get_clock() - simulated};
}

void compare(const s4u::Engine& engine, const Grid& grid, int blocks, const Settings& settings) {
  const BlockTable table(benchmarks::chain(blocks));
  const Program program = compile(table, expand(table, settings).plan);
  Engine ours(machine());
  const Nanos step = ours.simulate(program).run.step;
  const double seconds = benchmarks::processor_time_of([&] { ours.simulate(program); });
  Cost grid_cost = cost_in_simgrid(engine, grid, program);
  for (int again = 0; again < 2; ++again) {
    const Cost other = cost_in_simgrid(engine, grid, program);
    grid_cost = {std::min(grid_cost.made, other.made), std::min(grid_cost.run, other.run), grid_cost.step};
  }
  const auto each = [&](double all) { return all * 1e9 / static_cast<double>(program.steps.size()); };
  std::printf("%6d %8zu %10.1f %12.1f %12.1f %9.0f %12.6f %12.6f  %s\n", blocks, program.steps.size(),
              each(seconds), each(grid_cost.run), each(grid_cost.made), grid_cost.run / seconds,
              static_cast<double>(step.value) / 1e9, grid_cost.step, describe(settings).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  // Links give all that they have, at once.
  s4u::Engine engine(&argc, argv);
  for (const char* option :
       {"network/model:CM02", "network/TCP-gamma:0", "network/weight-S:0", "network/crosstraffic:0",
        "network/bandwidth-factor:1", "network/latency-factor:1"})
    s4u::Engine::set_config(option);
  const Grid grid;
  std::printf("on %s; times of one core\n\n", benchmarks::machine_name().c_str());
  std::printf("                  nanoseconds a program step                   the step takes, s\n");
  std::printf("blocks    steps    Stowage  SimGrid run  making them    ratio      Stowage      SimGrid\n");
  Settings offload;
  offload.policy = Policy::offload;
  offload.transfer.prefetch = 2;
  Settings swap;
  swap.policy = Policy::recompute;
  for (int blocks : {10, 100, 1000}) {
    compare(engine, grid, blocks, offload);
    swap.swap = {blocks / 3, SwapWhich::spread, SwapMode::two_way};
    compare(engine, grid, blocks, swap);
  }
}
