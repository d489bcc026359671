// How far predictions are from what happens: profiles the default model on the host device, predicts twenty
// plans drawn from a seed, carries each of them out, and compares step times and device peaks.
//
//   torch_validate [--quick] [--seed N] [--data FILE]
//
// Plans are measured interleaved: a round runs every plan once, so that a computer that gets slower or faster
// meanwhile does so for all of them. Each plan runs under a budget of its predicted peak and one percent.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/machine_name.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "profiler/block_probe.h"
#include "profiler/host_machine.h"
#include "profiler/sample.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "simulator/engine.h"
#include "traces/error.h"

using namespace stowage;

namespace {

struct Options {
  bool quick = false;
  std::uint64_t seed = 1;
  std::string data = "data/alice.txt";

  int plans() const { return quick ? 8 : 20; }
  int rounds() const { return quick ? 3 : 7; }  // the first one warms up
  int repeats() const { return quick ? 5 : 15; }
};

constexpr Bytes ample{8LL << 30};

struct Trial {
  Settings settings;
  Program program;
  Run predicted;
  std::vector<Nanos> steps;
  Bytes peak;
  bool refused = false;  // by the budget

  Nanos measured() const { return spread_of(steps).median; }
  double step_error() const { return relative(predicted.step.value, measured().value); }
  double peak_error() const { return relative(predicted.peaks.device.value, peak.value); }

  static double relative(std::int64_t predicted, std::int64_t measured) {
    return std::abs(static_cast<double>(predicted - measured)) / static_cast<double>(measured);
  }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  // Policies take turns; everything else is drawn. Swapped weights come back changed where they are trained.
  Settings settings(int index, std::int64_t blocks, SwapMode mode) {
    Settings drawn;
    drawn.policy = static_cast<Policy>(index % 4);
    drawn.interval = among(1, 4);
    drawn.stride = drawn.interval + among(0, 2);
    if (among(0, 2) == 0) drawn.segmenting = Segmenting::every_nth;
    if (drawn.policy == Policy::offload && among(0, 2) > 0) drawn.scope = static_cast<Scope>(among(0, 1));
    if (among(0, 1) == 1) drawn.swap = {among(1, blocks - 1), static_cast<SwapWhich>(among(0, 2)), mode};
    drawn.transfer.prefetch = among(0, 1);
    drawn.transfer.h2d_streams = among(1, 2);
    drawn.transfer.d2h_streams = among(1, 2);
    return drawn;
  }

 private:
  std::int64_t among(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  std::mt19937_64 random_;
};

// One model: profiled, then trained under every plan in turn.
class Bench {
 public:
  Bench(const TransformerConfig& config, HostDevice& device, const Options& options)
      : options_(options),
        device_(device),
        model_(config, options.seed),
        corpus_(options.data, {config.batch, config.context}),
        batch_(corpus_.batch(options.seed, 0)),
        profile_(profiled(name_of(config))),
        table_(profile_),
        executor_(model_, device),
        optimizer_(executor_.trained(), {}) {}

  const Profile& profile() const { return profile_; }

  Trial trial(const Settings& settings, const Machine& machine) const {
    Trial trial{settings, compile(table_, expand(table_, settings).plan), {}, {}, {}};
    trial.predicted = Engine(machine).simulate(trial.program).run;
    return trial;
  }

  void measure(std::vector<Trial>& trials) {
    for (int round = 0; round < options_.rounds(); ++round) {
      for (Trial& trial : trials) {
        const auto report = run(trial);
        if (report && round > 0) trial.steps.push_back(report->timeline.step);
      }
      std::fprintf(stderr, "\r%s: round %d of %d ", profile_.name.c_str(), round + 1, options_.rounds());
    }
    std::fprintf(stderr, "\n");
  }

  std::optional<StepReport> run(Trial& trial) {
    device_.memory().set_budget(Bytes{trial.predicted.peaks.device.value / 100 * 101});
    const StepResult result = executor_.run(trial.program, batch_, optimizer_);
    device_.memory().set_budget(ample);
    const auto* report = std::get_if<StepReport>(&result);
    if (!report) {
      trial.refused = true;
      return {};
    }
    for (const StepMemory& memory : report->memory) trial.peak = std::max(trial.peak, memory.peak);
    return *report;
  }

 private:
  Profile profiled(const std::string& name) {
    ProbeOptions probe;
    probe.repeats = options_.repeats();
    probe.on_step = [&](std::int64_t done, std::int64_t all) {
      std::fprintf(stderr, "\r%s: profiling, step %ld of %ld ", name.c_str(), static_cast<long>(done),
                   static_cast<long>(all));
    };
    const Assembled assembled = probe_blocks({name, model_, batch_}, device_, probe);
    std::fprintf(stderr, "\n");
    for (const std::string& warning : assembled.warnings) std::printf("warning: %s\n", warning.c_str());
    return assembled.profile;
  }

  const Options& options_;
  HostDevice& device_;
  Transformer model_;
  Corpus corpus_;
  State batch_;
  Profile profile_;
  BlockTable table_;
  Executor executor_;
  AdamW optimizer_;
};

double milliseconds(Nanos nanos) {
  return static_cast<double>(nanos.value) / 1e6;
}
double mebibytes(Bytes bytes) {
  return static_cast<double>(bytes.value) / (1 << 20);
}

void print(const Trial& trial) {
  const std::string words = describe(trial.settings);
  if (trial.refused) {
    std::printf("%-72s does not fit its predicted %.2f MiB and one percent\n", words.c_str(),
                mebibytes(trial.predicted.peaks.device));
    return;
  }
  std::printf("%-72s %8.1f %8.1f %+6.1f%%  %8.2f %8.2f %+6.2f%%\n", words.c_str(),
              milliseconds(trial.predicted.step), milliseconds(trial.measured()),
              100.0 * (milliseconds(trial.predicted.step) / milliseconds(trial.measured()) - 1),
              mebibytes(trial.predicted.peaks.device), mebibytes(trial.peak),
              100.0 * (mebibytes(trial.predicted.peaks.device) / mebibytes(trial.peak) - 1));
}

// Whether copies ran beside compute: a step of offloaded blocks, against its compute and its copies.
bool check_overlap(Bench& bench, const Machine& machine, const Options& options) {
  Settings settings;
  settings.policy = Policy::offload;
  settings.transfer.prefetch = 2;
  Trial trial = bench.trial(settings, machine);
  std::vector<Nanos> steps, computes, copies;
  for (int round = 0; round < options.rounds(); ++round) {
    const auto report = bench.run(trial);
    if (!report || round == 0) continue;
    Nanos copying;
    for (const Span& span : report->timeline.spans)
      if (span.lane != Lane::compute) copying += span.end - span.begin;
    steps.push_back(report->timeline.step);
    computes.push_back(report->timeline.compute);
    copies.push_back(copying);
  }
  const double step = milliseconds(spread_of(steps).median);
  const double compute = milliseconds(spread_of(computes).median);
  const double copy = milliseconds(spread_of(copies).median);
  const double most = std::max(compute, copy), sum = compute + copy;
  const bool overlapped = step - most < sum - step;
  std::printf(
      "\noverlap (%s): compute %.1f ms, copies %.1f ms, longer of them %.1f, sum %.1f, step %.1f: %s\n",
      describe(settings).c_str(), compute, copy, most, sum, step,
      overlapped ? "closer to the longer" : "closer to the sum");
  return overlapped;
}

bool summarize(const std::vector<Trial>& trials) {
  std::vector<double> steps, peaks;
  int refused = 0;
  for (const Trial& trial : trials) {
    refused += trial.refused;
    if (trial.steps.empty()) continue;
    steps.push_back(trial.step_error());
    peaks.push_back(trial.peak_error());
  }
  if (steps.empty()) throw DefectError("no plan ran");
  std::sort(steps.begin(), steps.end());
  const double median = (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]) / 2;
  const double worst_peak = *std::max_element(peaks.begin(), peaks.end());
  std::printf("\n%zu plans: step time off by %.1f%% in the median (at most 10%%), %.1f%% at worst\n",
              trials.size(), 100 * median, 100 * steps.back());
  std::printf("device peak off by %.2f%% at worst (at most 1%%); over its budget: %d plans\n",
              100 * worst_peak, refused);
  return median <= 0.10 && worst_peak <= 0.01 && refused == 0;
}

bool validate(const Options& options) {
  const Machine machine = host_machine(ample);
  HostDevice device(machine);
  TransformerConfig full, adapted;
  adapted.lora = LoraConfig{};
  std::printf("%s; links %.1f GB/s; seed %llu\n\n%-72s %8s %8s %7s  %8s %8s %7s\n",
              benchmarks::machine_name().c_str(),
              static_cast<double>(machine.links.h2d.rate.bytes_per_second) / 1e9,
              static_cast<unsigned long long>(options.seed), "plan", "step ms", "measured", "", "peak MiB",
              "measured", "");
  Draw draw(options.seed);
  std::vector<Trial> all;
  bool good = true;
  for (const TransformerConfig& config : {full, adapted}) {
    Bench bench(config, device, options);
    const SwapMode mode = config.lora ? SwapMode::h2d : SwapMode::two_way;
    std::vector<Trial> trials;
    for (int i = 0; i < options.plans() / 2; ++i)
      trials.push_back(bench.trial(i == 0 ? Settings{} : draw.settings(i, config.layers, mode), machine));
    bench.measure(trials);
    std::printf("%s\n", bench.profile().name.c_str());
    for (const Trial& trial : trials) print(trial);
    if (!config.lora) good = check_overlap(bench, machine, options);
    all.insert(all.end(), trials.begin(), trials.end());
  }
  return summarize(all) && good;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quick")
      options.quick = true;
    else if (flag == "--seed" && i + 1 < argc)
      options.seed = std::stoull(argv[++i]);
    else if (flag == "--data" && i + 1 < argc)
      options.data = argv[++i];
    else
      throw InputError(flag, "", "expected --quick, --seed N or --data FILE");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return validate(parse(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_validate: %s\n", error.what());
    return 2;
  }
}
