// A few hundred steps: each leaves what the second has left, to the byte and to the count.
#include <ATen/ATen.h>

#include "runtime/host_device.h"
#include "tests/catch.h"
#include "tests/runtime/small_transformer.h"

using namespace stowage;

TEST_CASE("memory, host buffers and counters stay as they are over hundreds of steps") {
  constexpr int steps = 300;
  Machine machine = test_machine();
  machine.links.h2d = machine.links.d2h = {{8'000'000'000}, {1'000}};
  HostDevice device(machine);
  Settings settings;
  settings.policy = Policy::offload;
  settings.swap = {2, SwapWhich::spread, SwapMode::two_way};
  const Program program = program_of(small_profile(false, device), settings);
  const auto chain = small_transformer(false)();
  Executor executor(*chain, device);
  AdamW optimizer(executor.trained(), {});
  Bytes device_bytes, host_bytes;
  StepReport second;
  for (int step = 0; step < steps; ++step) {
    const State batch = small_batch(step % 7);
    StepReport report = std::get<StepReport>(executor.run(program, batch, optimizer));
    if (step == 1) {
      device_bytes = device.memory().live();
      host_bytes = device.host_memory().live();
      second = std::move(report);
    }
    if (step <= 1) continue;
    REQUIRE(device.memory().live() == device_bytes);
    REQUIRE(device.host_memory().live() == host_bytes);
    REQUIRE(report.pool.held == second.pool.held);
    REQUIRE(report.pool.buckets.size() == second.pool.buckets.size());
    REQUIRE(report.timeline.counters.at("copies") == second.timeline.counters.at("copies"));
    // As many requests in each step, all of them served, and only in the first with new memory.
    const PinnedServed &now = report.pool.totals.served, &then = second.pool.totals.served;
    REQUIRE(2 * now.accesses == (step + 1) * then.accesses);
    REQUIRE(now.checkouts == now.accesses);
    REQUIRE(now.allocations == then.allocations);
    REQUIRE(report.pool.totals.turnover.releases == now.checkouts);
  }
}
