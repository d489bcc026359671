// How far predictions are from what happens: profiles the default model on the host device, in full training
// and with adapters, predicts twenty plans drawn from a seed, carries each of them out, and compares step
// times and device peaks. Also says whether copies run beside compute.
//
//   torch_validate [--quick] [--seed N] [--data FILE]
//
// Run from the root of the source tree, where data/ is. Exit 0: the aims are met; 1: they are not.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/machine_name.h"
#include "benchmarks/torch_interleaved.h"
#include "profiler/host_machine.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer.h"

using namespace stowage;
using benchmarks::Interleaved;
using benchmarks::Rounds;
using benchmarks::Trial;

namespace {

constexpr double step_aim = 0.10, peak_aim = 0.01;
constexpr Bytes ample{8LL << 30};

struct Options {
  bool quick = false;
  std::uint64_t seed = 1;
  std::string data = "data/alice.txt";

  int plans() const { return quick ? 8 : 20; }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  // Policies take turns; everything else is drawn. Swapped weights come back changed where they are trained.
  Settings settings(int index, std::int64_t blocks, SwapMode mode) {
    Settings drawn;
    drawn.policy = static_cast<Policy>(index % 4);
    if (drawn.policy == Policy::recompute || drawn.policy == Policy::recompute_offload) {
      drawn.interval = among(1, 4);
      drawn.stride = drawn.interval + among(0, 2);
      if (among(0, 2) == 0) drawn.segmenting = Segmenting::every_nth;
    }
    if (drawn.policy == Policy::offload && among(0, 2) > 0) drawn.scope = static_cast<Scope>(among(0, 1));
    if (index > 0 && among(0, 1) == 1)
      drawn.swap = {among(1, blocks - 1), static_cast<SwapWhich>(among(0, 2)), mode};
    drawn.transfer.prefetch = among(0, 3);
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

double milliseconds(Nanos nanos) {
  return static_cast<double>(nanos.value) / 1e6;
}
double mebibytes(Bytes bytes) {
  return static_cast<double>(bytes.value) / (1 << 20);
}
Nanos median(const std::vector<Nanos>& times) {
  return spread_of(times).median;
}

double step_error(const Trial& trial) {
  return milliseconds(trial.predicted.step) / milliseconds(median(trial.steps)) - 1;
}
double peak_error(const Trial& trial) {
  return mebibytes(trial.predicted.peaks.device) / mebibytes(trial.peak) - 1;
}

void print(const Trial& trial) {
  const std::string words = describe(trial.settings);
  if (trial.refused) {
    std::printf("%-68.68s does not fit its budget of %.2f MiB\n", words.c_str(), mebibytes(trial.budget));
    return;
  }
  std::printf("%-68.68s %8.1f %8.1f %+6.1f%% %9.2f %8.2f %+6.2f%%\n", words.c_str(),
              milliseconds(trial.predicted.step), milliseconds(median(trial.steps)), 100 * step_error(trial),
              mebibytes(trial.predicted.peaks.device), mebibytes(trial.peak), 100 * peak_error(trial));
}

// A step whose copies fit under its compute, against the longer of both and against their sum.
bool overlaps(const Trial& trial) {
  if (trial.refused) return false;
  const double step = milliseconds(median(trial.steps)), compute = milliseconds(median(trial.computes));
  const double copy = milliseconds(median(trial.copies));
  const double longer = std::max(compute, copy), sum = compute + copy;
  const bool closer = step - longer < sum - step;
  std::printf("overlap, %s: compute %.1f ms, copies %.1f ms, sum %.1f ms; step %.1f ms is closer to the %s\n",
              describe(trial.settings).c_str(), compute, copy, sum, step, closer ? "longer" : "sum");
  return closer;
}

// The model takes the first pass of a recomputed block, and the pass again, to last as long as a kept one.
void compare_forwards(const Trial& kept, const Trial& recomputed) {
  if (kept.refused || recomputed.refused) return;
  const double whole = milliseconds(median(kept.forwards));
  std::printf("forward passes: kept %.1f ms; recomputed: at first %.2f, again %.2f times as long\n", whole,
              milliseconds(median(recomputed.forwards)) / whole,
              milliseconds(median(recomputed.recomputes)) / whole);
}

bool summarize(const std::vector<Trial>& trials) {
  std::vector<double> steps, peaks;
  for (const Trial& trial : trials) {
    if (trial.refused) continue;
    steps.push_back(std::abs(step_error(trial)));
    peaks.push_back(std::abs(peak_error(trial)));
  }
  const std::size_t over = trials.size() - steps.size();
  std::sort(steps.begin(), steps.end());
  const double middle = steps.empty() ? 1 : (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]) / 2;
  const double worst = steps.empty() ? 1 : *std::max_element(peaks.begin(), peaks.end());
  std::printf("step time, median error over %zu plans: %.1f%% (aim: at most %.0f%%)\n", trials.size(),
              100 * middle, 100 * step_aim);
  std::printf("device peak, largest error: %.2f%% (aim: at most %.0f%%); plans over their budget: %zu\n",
              100 * worst, 100 * peak_aim, over);
  return middle <= step_aim && worst <= peak_aim && over == 0;
}

// What one model did under its share of the plans, and under plans that show one thing each.
struct ModelTrials {
  std::vector<Trial> drawn;
  Trial keep, recompute, offload;
};

Trial take_last(std::vector<Trial>& trials) {
  Trial last = std::move(trials.back());
  trials.pop_back();
  return last;
}

ModelTrials try_model(const TransformerConfig& config, HostDevice& device, const Machine& machine,
                      const Options& options, Draw& draw) {
  const SwapMode mode = config.lora ? SwapMode::h2d : SwapMode::two_way;
  std::vector<Settings> plans;
  for (int i = 0; i < options.plans() / 2; ++i) plans.push_back(draw.settings(i, config.layers, mode));
  for (const Policy policy : {Policy::keep, Policy::recompute, Policy::offload}) {
    plans.emplace_back().policy = policy;
    plans.back().transfer.prefetch = 2;
  }

  Transformer model(config, options.seed);
  const State batch = Corpus(options.data, {config.batch, config.context}).batch(options.seed, 0);
  const std::string name = name_of(config);
  const ProbeSubject subject{name, model, batch};
  Rounds rounds;
  if (options.quick) rounds = {3, 2, {}};
  rounds.on_round = [&](int done) {
    std::fprintf(stderr, "\r%s: round %d of %d ", name.c_str(), done, rounds.count);
  };
  std::vector<Trial> trials = Interleaved(subject, device, machine, rounds).run(plans);
  std::fprintf(stderr, "\n");
  std::printf("%s\n", name.c_str());
  for (const Trial& trial : trials) print(trial);
  ModelTrials all;
  all.offload = take_last(trials);
  all.recompute = take_last(trials);
  all.keep = take_last(trials);
  all.drawn = std::move(trials);
  return all;
}

bool validate(const Options& options) {
  const Machine machine = host_machine(ample);
  HostDevice device(machine);
  TransformerConfig full, adapted;
  adapted.lora = LoraConfig{};
  std::printf(
      "%s; links of %.1f GB/s; seed %llu\n%-68s %8s %8s %7s %9s %8s\n", benchmarks::machine_name().c_str(),
      static_cast<double>(machine.links.h2d.rate.bytes_per_second) / 1e9,
      static_cast<unsigned long long>(options.seed), "", "step ms", "measured", "", "peak MiB", "measured");
  Draw draw(options.seed);
  std::vector<Trial> drawn;
  std::vector<ModelTrials> models;
  for (const TransformerConfig& config : {full, adapted}) {
    models.push_back(try_model(config, device, machine, options, draw));
    std::move(models.back().drawn.begin(), models.back().drawn.end(), std::back_inserter(drawn));
  }
  std::printf("\n");
  bool good = summarize(drawn);
  for (const ModelTrials& model : models) {
    good = overlaps(model.offload) && good;
    compare_forwards(model.keep, model.recompute);
  }
  return good;
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError("--seed", "", "expected a whole number, not " + text);
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quick")
      options.quick = true;
    else if (flag == "--seed" && i + 1 < argc)
      options.seed = number(argv[++i]);
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
