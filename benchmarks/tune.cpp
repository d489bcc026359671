// How long tuning takes over the whole space of settings: by kind of profile, by threads, and as the chain
// grows. The frontier answers every device budget at once, so that time does not depend on the budget.
//
// And what plans without settings gain, by budget, on one thread.
//
// "considered" counts different plans, whether or not a bound spared their pricing; "priced" those that the
// simulator was asked about.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "plan/block_table.h"
#include "tuner/free/free_search.h"
#include "tuner/tuner.h"

using namespace stowage;

namespace {

// Of one thread the processor's time, which other work on the machine does not lengthen; of several the
// clock's.
class Stopwatch {
 public:
  explicit Stopwatch(unsigned threads) : threads_(threads) {}

  double seconds() const {
    if (threads_ == 1) return static_cast<double>(std::clock() - processor_) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - clock_).count();
  }

 private:
  unsigned threads_;
  std::clock_t processor_ = std::clock();
  std::chrono::steady_clock::time_point clock_ = std::chrono::steady_clock::now();
};

// 24 GiB of device memory, 64 GiB of host memory, links of 26 GB/s.
Machine card() {
  Machine machine;
  machine.name = "card";
  machine.device.memory = {std::int64_t{24} << 30};
  machine.host.memory = machine.host.pinned_limit = {std::int64_t{64} << 30};
  machine.links.h2d = machine.links.d2h = {{26'000'000'000}, {10'000}};
  return machine;
}

// Copies slow one another and compute.
Machine sharing_card() {
  Machine machine = card();
  machine.links.duplex = 0.85;
  machine.links.compute_slowdown = 0.05;
  return machine;
}

// Memory goes through a caching allocator, so that no sketch says what is reserved.
Machine caching_card() {
  Machine machine = card();
  machine.arena = ArenaKind::caching;
  return machine;
}

// The gradient of each block is as large as its weights.
Profile trained_in_full(Profile profile) {
  for (BlockProfile& block : profile.blocks) block.sizes.gradient = block.sizes.weight;
  return profile;
}

void report(const char* what, const Profile& profile, const Machine& machine, unsigned threads) {
  const BlockTable table(profile);
  TuneRequest request;
  request.budget = budget_of(machine);
  request.threads = threads;
  const Stopwatch watch(threads);
  const TuneResult result = tune(table, machine, request);
  const double seconds = watch.seconds();
  const auto considered = static_cast<double>(result.considered);
  std::printf("%-32s %4u %8.2f s %9.2f million %8.1f million/s %8lld %9zu\n", what, table.size(), seconds,
              considered / 1e6, considered / seconds / 1e6, static_cast<long long>(result.evaluated),
              result.frontier.size());
}

// What plans without settings gain over the best settings, and how far they may be from the best.
void report_free(std::int64_t blocks, double gib) {
  Machine machine = card();
  machine.device.memory = {static_cast<std::int64_t>(gib * (1 << 30))};
  machine.host.memory = machine.host.pinned_limit = {std::int64_t{1000} << 30};
  const BlockTable table(benchmarks::chain(blocks));
  TuneRequest request;
  request.budget = budget_of(machine);
  const TuneResult settings = tune(table, machine, request);
  FreeRequest free;
  free.budget = request.budget;
  const Plan& start = settings.best ? settings.best->plan : settings.least.plan;
  const Stopwatch watch(1);
  const FreeResult found = search_free(table, machine, free, {start});
  const double seconds = watch.seconds();
  if (!settings.best || !found.best || !found.bound) return;
  const auto milliseconds = [](Nanos nanos) { return static_cast<double>(nanos.value) / 1e6; };
  const double bound = milliseconds(*found.bound), step = milliseconds(found.best->run.step);
  std::printf("%5lld %5.0f GiB %9.1f ms %9.1f ms %9.1f ms %7.2f%% %8.2f s %7lld\n",
              static_cast<long long>(blocks), gib, milliseconds(settings.best->run.step), step, bound,
              100 * (step / bound - 1), seconds, static_cast<long long>(found.evaluated));
}

}  // namespace

int main() {
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  std::printf(
      "                               blocks       time       considered        tuned a second   priced  "
      "frontier\n");
  report("adapters, one thread", benchmarks::chain(57), card(), 1);
  report("adapters, two threads", benchmarks::chain(57), card(), 2);
  report("trained in full", trained_in_full(benchmarks::chain(57)), card(), 1);
  report("rates shared", benchmarks::chain(57), sharing_card(), 1);
  report("caching arena", benchmarks::chain(14), caching_card(), 1);
  report("caching arena", benchmarks::chain(28), caching_card(), 2);
  for (std::int64_t blocks : {7, 14, 28, 114, 300, 1000})
    report("adapters, one thread", benchmarks::chain(blocks), card(), 1);
  std::printf("\nblocks   budget     settings          free         bound      gap       time  priced\n");
  for (double gib : {8, 10, 12, 16, 20, 24, 28, 32}) report_free(57, gib);
  report_free(300, 24);
  report_free(1000, 48);
}
