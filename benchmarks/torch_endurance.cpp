// Whether a long training stays as it begins: thousands of steps of a small model with offload and a swap
// both ways. Live memory, host buffers, threads and counters must be after every step what they were after
// the second, the process must not grow, and the last thousand steps must take as long as the first. A plain
// loop takes every tenth step too: what drifts in both is the machine.
//
//   torch_endurance [STEPS] [SEED]
//
// Run from the root of the source tree, where data/ is. Exit 0: all of that holds; 1: something does not.
#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/machine_name.h"
#include "benchmarks/torch_errors.h"
#include "benchmarks/torch_plain_training.h"
#include "profiler/block_probe.h"
#include "profiler/host_machine.h"
#include "profiler/sample.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer.h"
#include "traces/error.h"

using namespace stowage;

namespace {

constexpr double drift_aim = 5;              // percent
constexpr Bytes growth_aim{4LL << 20};       // of the process, after the first thousandth of the steps
constexpr std::size_t compared_most = 1000;  // steps at each end
constexpr std::size_t plain_every = 10;      // steps

TransformerConfig small_model() {
  TransformerConfig config;
  config.layers = 4;
  config.width = 32;
  config.heads = 2;
  config.context = 16;
  config.batch = 2;
  return config;
}

// What may not change from step to step.
struct Standing {
  Bytes device, host, held;
  std::ptrdiff_t threads = 0;
  std::int64_t copies = 0, accesses = 0, checkouts = 0;  // of one step

  bool operator==(const Standing&) const = default;
};

Bytes resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return {resident * sysconf(_SC_PAGE_SIZE)};
}

class Endurance {
 public:
  Endurance(std::size_t steps, std::uint64_t seed)
      : steps_(steps),
        seed_(seed),
        device_(host_machine({1LL << 30})),
        corpus_("data/alice.txt", {small_model().batch, small_model().context}),
        model_(small_model(), seed),
        program_(program()),
        executor_(model_, device_),
        optimizer_(executor_.trained(), {}),
        plain_(small_model(), seed) {}

  bool run() {
    std::vector<Nanos> times, plain_times;
    Bytes resident;
    for (std::size_t step = 0; step < steps_; ++step) {
      const StepReport report = take(step);
      times.push_back(report.timeline.step);
      if (step % plain_every == 0) plain_times.push_back(take_plain(step));
      const Standing now = standing(report);
      peak_ = std::max(peak_, peak(report.timeline.memory.device));  // some copies end later than others
      if (step == 1) steady_ = now;
      if (step > 1 && !(now == steady_)) ++deviating_;
      if (step == steps_ / 1000 + 1) resident = resident_memory();
    }
    return tell(times, plain_times, resident_memory() - resident);
  }

 private:
  Program program() {
    const State batch = corpus_.batch(seed_, 0);
    ProbeOptions options;
    options.repeats = 3;
    const BlockTable table(probe_blocks({"endurance", model_, batch}, device_, options).profile);
    Settings settings;
    settings.policy = Policy::offload;
    settings.swap = {2, SwapWhich::spread, SwapMode::two_way};
    settings.transfer.prefetch = 2;
    return compile(table, expand(table, settings).plan);
  }

  StepReport take(std::size_t step) {
    const State batch = corpus_.batch(seed_, step);
    StepResult result = executor_.run(program_, batch, optimizer_);
    if (const auto* shortage = std::get_if<Shortage>(&result))
      throw SystemError("torch_endurance", shortage->refusal.text());
    return std::get<StepReport>(std::move(result));
  }

  Nanos take_plain(std::size_t step) {
    const State batch = corpus_.batch(seed_, step);
    const auto begin = std::chrono::steady_clock::now();
    plain_.step(batch);
    return {std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  }

  Standing standing(const StepReport& report) {
    const PinnedServed served = report.pool.totals.served;
    Standing now{device_.memory().live(),
                 device_.host_memory().live(),
                 report.pool.held,
                 std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}),
                 report.timeline.counters.at("copies"),
                 served.accesses - served_.accesses,
                 served.checkouts - served_.checkouts};
    served_ = served;
    return now;
  }

  bool tell(const std::vector<Nanos>& times, const std::vector<Nanos>& plain_times, Bytes growth) const {
    const std::size_t compared = std::min(compared_most, times.size() / 2);
    std::printf(
        "after the second step: %lld B on the device, %lld B of host buffers, %lld B pinned; peak of all "
        "steps %lld B\n",
        static_cast<long long>(steady_.device.value), static_cast<long long>(steady_.host.value),
        static_cast<long long>(steady_.held.value), static_cast<long long>(peak_.value));
    std::printf("steps after which anything of that, threads, copies or requests differ: %zu\n", deviating_);
    std::printf("the process has grown by %.1f MiB (aim: at most %lld)\n",
                static_cast<double>(growth.value) / (1 << 20),
                static_cast<long long>(growth_aim.value >> 20));
    const double planned = ends("median step", times, compared),
                 plain = ends("of the plain loop", plain_times, compared / plain_every);
    const double drift = 100 * (planned / plain - 1);
    std::printf("drift over the plain loop's: %+.2f%% (aim: within %.0f%%)\n", drift, drift_aim);
    return deviating_ == 0 && growth <= growth_aim && std::abs(drift) <= drift_aim;
  }

  // Prints the medians of both ends; the last over the first.
  static double ends(const char* what, const std::vector<Nanos>& times, std::size_t compared) {
    const auto end = static_cast<std::ptrdiff_t>(compared);
    const Nanos first = spread_of({times.begin(), times.begin() + end}).median;
    const Nanos last = spread_of({times.end() - end, times.end()}).median;
    const double ratio = static_cast<double>(last.value) / static_cast<double>(first.value);
    std::printf("%s: %.3f ms in the first %zu, %.3f ms in the last, %+.2f%%\n", what,
                benchmarks::milliseconds(first), compared, benchmarks::milliseconds(last), 100 * (ratio - 1));
    return ratio;
  }

  const std::size_t steps_;
  const std::uint64_t seed_;
  HostDevice device_;
  Corpus corpus_;
  Transformer model_;
  const Program program_;
  Executor executor_;
  AdamW optimizer_;
  benchmarks::PlainTraining plain_;
  PinnedServed served_;
  Standing steady_;
  Bytes peak_;  // of all steps
  std::size_t deviating_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::size_t steps = argc > 1 ? static_cast<std::size_t>(std::max(10, std::atoi(argv[1]))) : 10'000;
    const std::uint64_t seed = argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : 1;
    std::printf("%s; %zu steps, seed %llu\n", benchmarks::machine_name().c_str(), steps,
                static_cast<unsigned long long>(seed));
    return Endurance(steps, seed).run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_endurance: %s\n", error.what());
    return 2;
  }
}
