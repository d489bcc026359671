// How long a search takes, and how much of the space its bounds spare: by budget, by threads, and as the
// chain grows.
#include <chrono>
#include <cstdio>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "tuner/tuner.h"

using namespace stowage;

namespace {

// 24 GB of device memory, 64 GB of host memory, links of 26 GB/s.
Machine card() {
  Machine machine;
  machine.name = "card";
  machine.device.memory = {std::int64_t{24} << 30};
  machine.host.memory = machine.host.pinned_limit = {std::int64_t{64} << 30};
  machine.links.h2d = machine.links.d2h = {{26'000'000'000}, {10'000}};
  return machine;
}

void report(std::int64_t blocks, std::int64_t gibi, unsigned threads) {
  const BlockTable table(benchmarks::chain(blocks));
  const Machine machine = card();
  TuneRequest request;
  request.budget = budget_of(machine);
  request.budget.device = {gibi << 30};
  request.threads = threads;
  const auto start = std::chrono::steady_clock::now();
  const TuneResult result = tune(table, machine, request);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%6lld  %5lld GiB  %7u  %9.2f s  %10lld  %10lld  %12.0f  %9zu\n",
              static_cast<long long>(blocks), static_cast<long long>(gibi), threads, seconds,
              static_cast<long long>(result.considered), static_cast<long long>(result.evaluated),
              static_cast<double>(result.considered) / seconds, result.frontier.size());
}

}  // namespace

int main() {
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  std::printf("blocks     budget  threads       time  considered   simulated  considered/s   frontier\n");
  for (std::int64_t gibi : {12, 24, 48}) report(57, gibi, 1);
  report(57, 24, 2);
  for (std::int64_t blocks : {14, 28}) report(blocks, 12, 1);
}
