// What a tuned plan promises.
#include "tuner/tuner.h"

#include <algorithm>

#include "plan/program.h"
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "traces/error.h"
#include "tuner/choices.h"
#include "tuner/refinement.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

TuneRequest request_for(std::int64_t device, std::int64_t host = 1'000'000) {
  TuneRequest request;
  request.budget = {{device}, {host}, {host}};
  return request;
}

TuneResult tune_example(const TuneRequest& request) {
  return tune(BlockTable(example_profile()), plain_machine(), request);
}

std::string text_of(const TuneResult& result) {
  std::string text = std::to_string(result.considered) + " " + std::to_string(result.evaluated) + "\n";
  for (const FrontierPoint& point : result.frontier)
    text += describe(point.settings) + " " + std::to_string(point.run.step.value) + " " +
            std::to_string(point.run.peaks.device.value) + "\n";
  return text + (result.best ? describe(*result.best->plan.settings) : "nothing fits");
}

}  // namespace

// Section 3's table: keeping everything takes 130 ns and 217 B.
TEST_CASE("where keeping everything fits it is the answer") {
  const TuneResult result = tune_example(request_for(217));
  REQUIRE(result.null_fits);
  REQUIRE(result.null_run.step == Nanos{130});
  REQUIRE(result.null_run.peaks.device == Bytes{217});
  REQUIRE(result.best->plan.settings == Settings{});
  REQUIRE(result.best->run == result.null_run);
  REQUIRE(result.optimal());
}

// With one byte less something has to go, and the table's last-but-one row costs nothing: 130 ns in 212 B.
TEST_CASE("where it does not fit, what costs no time is found") {
  const TuneResult result = tune_example(request_for(216));
  REQUIRE(!result.null_fits);
  REQUIRE(result.best->run.step == Nanos{130});
  REQUIRE(result.best->run.peaks.device <= Bytes{212});
  REQUIRE(result.bound == Nanos{130});
  REQUIRE(result.gap() == 0.0);
}

TEST_CASE("a tuned plan is the file's plan: priced, bounded, and legal") {
  const BlockTable table(example_profile());
  const Machine machine = plain_machine();
  const TuneResult result = tune(table, machine, request_for(170));
  const Plan& plan = result.best->plan;
  check(plan, table);
  const Program program = compile(table, plan);
  Timeline timeline;
  const Outcome outcome = Engine(machine).simulate(program, timeline);
  REQUIRE(verify(timeline, program, machine, {Bytes{170}, Bytes{1'000'000}}).empty());
  REQUIRE(outcome.run == result.best->run);
  REQUIRE(plan.predicted == Prediction{outcome.run.step, outcome.run.compute, outcome.run.stall(),
                                       outcome.run.peaks.device, outcome.run.peaks.host_activation,
                                       outcome.run.peaks.host_pinned});
  REQUIRE(plan.bound == result.bound);
}

TEST_CASE("an infeasible budget gets the least that would do") {
  const TuneResult result = tune_example(request_for(100));
  REQUIRE(!result.best);
  REQUIRE(!result.optimal());
  REQUIRE(result.least_bytes() == result.frontier.front().run.peaks.device);
  REQUIRE(result.least.plan.predicted->device_peak == result.least_bytes());

  const TuneResult just = tune_example(request_for(result.least_bytes().value));
  REQUIRE(just.best->run == result.least.run);
  REQUIRE(!tune_example(request_for(result.least_bytes().value - 1)).best);
}

TEST_CASE("without host memory nothing is sent there") {
  const TuneResult result = tune_example(request_for(170, 0));
  for (const FrontierPoint& point : result.frontier) REQUIRE(point.run.peaks.host == Bytes{});
  // The three first blocks are recomputed, one by one. At B_3: 120 static, X_0..X_3 8, saved 20, the gradient
  // of X_4 2, and 4 + 1 + 2 of B_3 itself: 157. Recomputing the last as well is slower and no smaller.
  REQUIRE(result.best->plan.settings->policy == Policy::recompute);
  REQUIRE(result.best->run.peaks.device == Bytes{157});
  REQUIRE(result.best->run.step == Nanos{160});
}

// Blocks ten times as slow, so that copies hide behind them and a recomputation costs 100 ns. In 175 B fits
// what has three blocks offload and three swap. Their 60 B and 15 B of weights are more than a host of 60 B
// has until some rest on a disk; then the step takes the 4 * (100 + 200) + 6 + 4 of keeping everything.
TEST_CASE("a disk is tried where the host is too small") {
  Profile profile = example_profile();
  profile.blocks[0].times.forward = {100};
  profile.blocks[0].times.backward = {200};
  const BlockTable table(profile);
  Machine machine = plain_machine();
  const TuneRequest request = request_for(175, 60);
  const TuneResult without = tune(table, machine, request);
  REQUIRE(without.best->run.step > Nanos{1210});
  machine.disk = Disk{{1'000}, {{1'000'000'000}, {}}, {{1'000'000'000}, {}}};
  const TuneResult with = tune(table, machine, request);
  REQUIRE(with.best->run.step == Nanos{1210});
  REQUIRE(with.optimal());
  REQUIRE(with.best->plan.settings->transfer.disk_over);
  const Simulated result = simulate(profile, *with.best->plan.settings, machine);
  REQUIRE(result.run() == with.best->run);
  REQUIRE(result.run().peaks.device <= Bytes{175});
  REQUIRE(result.run().peaks.host <= Bytes{60});
  // Nothing is gained by a disk without room, or by one of a byte a microsecond.
  machine.disk->capacity = {};
  REQUIRE(tune(table, machine, request).best->plan == without.best->plan);
  machine.disk = Disk{{1'000}, {{1'000'000}, {}}, {{1'000'000}, {}}};
  REQUIRE(tune(table, machine, request).best->plan == without.best->plan);
}

TEST_CASE("the answer is the same at any number of threads") {
  int compared = 0;
  for (std::uint64_t seed = 0; compared < 40; ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::random_case(seed);
    const BlockTable table(random.profile);
    if (table.size() > 6) continue;
    if (seed % 3 == 0) random.machine.links.compute_slowdown = 0.1;  // prices that no sketch foresees
    TuneRequest request = request_for(0, std::int64_t{1} << 60);
    request.space.max_prefetch = 2;
    const Run null_run = tune(table, random.machine, request).null_run;
    request.budget.device = {null_run.peaks.device.value * 3 / 4};
    const std::string one = text_of(tune(table, random.machine, request));
    for (unsigned threads : {2u, 3u}) {
      request.threads = threads;
      REQUIRE(text_of(tune(table, random.machine, request)) == one);
    }
    ++compared;
  }
}

TEST_CASE("bounds spare nearly all of the work") {
  const TuneResult result = tune(BlockTable(example_profile(12)), plain_machine(), request_for(150));
  REQUIRE(result.considered > 50'000);
  REQUIRE(result.evaluated < 500);
}

TEST_CASE("a search that is ended early has an answer and an honest bound") {
  const BlockTable table(example_profile(8));
  TuneRequest request = request_for(1000);
  std::int64_t asked = 0;
  request.progress = [&](const TuneProgress& progress) {
    REQUIRE(progress.done <= progress.total);
    return ++asked < 5;
  };
  TuneResult result = tune(table, plain_machine(), request);
  REQUIRE(asked == 5);
  REQUIRE(result.best->plan.settings == Settings{});

  // Too small for keeping everything: what was found so far, no faster than the bound.
  asked = 0;
  request.budget.device = {result.null_run.peaks.device.value - 1};
  result = tune(table, plain_machine(), request);
  REQUIRE(result.bound == result.null_run.step);
  if (result.best) REQUIRE(result.best->run.step >= result.bound);
}

TEST_CASE("a request that makes no sense is refused by name") {
  const auto refused = [](auto change) {
    TuneRequest request = request_for(200);
    change(request);
    try {
      tune_example(request);
    } catch (const InputError& error) {
      return error.path();
    }
    return std::string("accepted");
  };
  REQUIRE(refused([](TuneRequest& r) { r.budget.device = {-1}; }) == "device budget");
  REQUIRE(refused([](TuneRequest& r) { r.budget.host = {-1}; }) == "host budget");
  REQUIRE(refused([](TuneRequest& r) { r.budget.pinned = {-1}; }) == "pinned budget");
  REQUIRE(refused([](TuneRequest& r) { r.space.max_swap_blocks = -1; }) == "max_swap_blocks");
  REQUIRE(refused([](TuneRequest& r) { r.space.max_prefetch = -1; }) == "max_prefetch");
  REQUIRE(refused([](TuneRequest& r) { r.space.max_streams = 0; }) == "max_streams");
  REQUIRE(refused([](TuneRequest& r) { r.threads = 0; }) == "threads");
}

// 22e6 / 200 = 110,000, whose cube root is 47.9: at most 47 values. Values p percent apart go one by one
// up to 200 / p, so that the first ten do for any p up to 20.
TEST_CASE("of a long chain small values are looked at one by one, large ones some percent apart") {
  REQUIRE(list_values(4, 57) == std::vector<std::int64_t>{1, 2, 3, 4});
  REQUIRE(list_values(0, 57).empty());
  REQUIRE(list_values(68, 68).size() == 68);
  const std::vector<std::int64_t> values = list_values(200, 200);
  REQUIRE(values.size() <= 47);
  REQUIRE(values.size() >= 40);
  REQUIRE(values.front() == 1);
  REQUIRE(values.back() == 200);
  REQUIRE(std::is_sorted(values.begin(), values.end()));
  for (std::size_t i = 0; i < 10; ++i) REQUIRE(values[i] == static_cast<std::int64_t>(i) + 1);
}

// The budget is half way between the least peak and that of keeping everything.
TEST_CASE("of a long chain the best is found between the values that were looked at") {
  Profile profile = example_profile();
  profile.blocks.resize(1);
  profile.blocks.front().count = 90;
  const BlockTable table(profile);
  TuneRequest request = request_for(0);
  const TuneResult all = tune(table, plain_machine(), request);
  request.budget.device = {(all.least.run.peaks.device.value + all.null_run.peaks.device.value) / 2};
  const TuneResult result = tune(table, plain_machine(), request);
  REQUIRE(result.best);
  REQUIRE(fits(result.best->run.peaks, request.budget));
  REQUIRE(result.bound == result.null_run.step);
  for (const FrontierPoint& point : result.frontier)
    if (point.run.peaks.device <= request.budget.device) REQUIRE(result.best->run.step <= point.run.step);
  const Settings start = all.least.plan.settings.value();
  const Refined refined = refine(table, plain_machine(), request, start, all.least.run);
  REQUIRE(refined.run.step < all.least.run.step);
  REQUIRE(fits(refined.run.peaks, request.budget));
}
