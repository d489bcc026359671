// No certificate is above what any plan takes, for free plans of random chains: each is given a budget that
// it just fits.
#include "tuner/free/certificate.h"

#include <algorithm>

#include "plan/program.h"
#include "simulator/engine.h"
#include "simulator/step_times.h"
#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/simulator/random_case.h"
#include "tests/simulator/random_plan.h"
#include "tuner/settings_space.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// What the certificate says something of; see its header.
Plan within_the_space(Plan plan, const BlockTable& table) {
  plan.step = {};
  plan.transfer.disk_over.reset();
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    BlockDecision& block = plan.blocks[i];
    block.kept_layers = 0;
    if (block.weights == Residence::h2d || block.weights == Residence::two_way)
      block.weights = is_frozen(table.rows[i]) ? Residence::h2d : Residence::two_way;
    if (block.weights == Residence::stream && !is_frozen(table.rows[i])) block.weights = Residence::resident;
  }
  return plan;
}

void share_rates(Machine& machine, std::uint64_t seed) {
  machine.links.duplex = 0.5 + 0.1 * static_cast<double>(seed % 6);
  machine.links.compute_slowdown = 0.1 * static_cast<double>(seed % 5);
}

// How far the certificate of a random plan is from what the plan takes.
struct Distance {
  Nanos bound, step;
};

Distance distance(std::uint64_t seed) {
  reference::Case random = seed % 2 == 0 ? reference::random_case(seed) : reference::rich_case(seed);
  random.machine.disk.reset();
  if (seed % 5 == 0) share_rates(random.machine, seed);
  const BlockTable table(random.profile);
  const Plan plan = within_the_space(random_plan(random.profile, seed), table);
  Run run = Engine(random.machine).simulate(compile(table, plan)).run;
  if (seed % 3 == 0) {  // not all of it may be pinned
    random.machine.host.pinned_limit = Bytes{run.peaks.host_pinned.value / 2};
    const std::int64_t rate = random.machine.links.h2d.rate.bytes_per_second;
    random.machine.links.pageable = {
        std::max<std::int64_t>(1, rate / static_cast<std::int64_t>(1 + seed % 4))};
    run = Engine(random.machine).simulate(compile(table, plan)).run;
  }
  random.machine.device.memory = run.peaks.on_device() + random.machine.device.reserved;
  const Budget budget{run.peaks.on_device(), run.peaks.host, run.peaks.host_pinned};
  const Certified result = Certificate(table, random.machine).certify(budget, never);
  REQUIRE(result.bound);
  return {*result.bound, run.step};
}

}  // namespace

TEST_CASE("no plan is faster than its certificate") {
  int certified = 0, close = 0;
  for (std::uint64_t seed = 0; seed < cases(200); ++seed) {
    CAPTURE(seed);
    const Distance found = distance(seed);
    REQUIRE(found.bound <= found.step);
    ++certified;
    close += found.bound.value * 10 >= found.step.value * 9;
  }
  REQUIRE(certified == static_cast<int>(cases(200)));
  REQUIRE(close > certified / 10);  // they say something
}

TEST_CASE("a scope that works in less than its block makes no certificate too high") {
  const Distance found = distance(10143);
  REQUIRE(found.bound <= found.step);
}
