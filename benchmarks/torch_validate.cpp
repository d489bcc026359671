// How far predictions are from what happens: profiles the default model on the host device, in full training
// and with adapters, and carries out fifty plans drawn from a seed, on ten machines that differ in how they
// pin memory and share their links; compares step times, device peaks and the pool of pinned buffers. Also
// says whether copies run beside compute.
//
//   torch_validate [--quick] [--seed N] [--data FILE]
//
// Run from the root of the source tree, where data/ is. Exit 0: the aims are met; 1: they are not.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/machine_name.h"
#include "benchmarks/torch_draw.h"
#include "benchmarks/torch_errors.h"
#include "benchmarks/torch_interleaved.h"
#include "profiler/host_machine.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer.h"

using namespace stowage;
using namespace stowage::benchmarks;

namespace {

constexpr Bytes ample{8LL << 30};

struct Options {
  bool quick = false;
  std::uint64_t seed = 1;
  std::string data = "data/alice.txt";

  // Of each model.
  int machines() const { return quick ? 2 : 5; }
  int plans() const { return quick ? 4 : 5; }  // on each machine
};

// A step whose copies fit under its compute, against the longer of both and against their sum.
bool overlaps(const Trial& trial) {
  if (trial.refused) return false;
  const double step = milliseconds(median(trial.steady().steps)),
               compute = milliseconds(median(trial.computes));
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

// Settings that fit the machine; half of them are allowed less pinned memory than they could use.
Settings draw_settings(Draw& draw, int index, SwapMode mode, const BlockTable& table,
                       const Machine& machine) {
  for (;;) {
    Settings settings = draw.settings(index, static_cast<std::int64_t>(table.size()), mode);
    Engine engine(machine);
    const auto simulate = [&] { return engine.simulate(compile(table, expand(table, settings).plan)); };
    settings.transfer.pinned_max = draw.pinned_max(simulate().run.peaks.host_pinned);
    if (std::holds_alternative<Ran>(simulate().verdict)) return settings;
  }
}

// The last scene shows one thing with each of its plans, on a machine without tricks.
std::vector<Scene> draw_scenes(Draw& draw, SwapMode mode, const Options& options, const BlockTable& table) {
  std::vector<Scene> scenes;
  for (int m = 0; m < options.machines(); ++m) {
    scenes.push_back({draw.machine(m, ample), {}});
    for (int i = 0; i < options.plans(); ++i)
      scenes.back().plans.push_back(
          draw_settings(draw, m * options.plans() + i, mode, table, scenes.back().machine));
  }
  scenes.push_back({host_machine(ample), {}});
  for (const Policy policy : {Policy::keep, Policy::recompute, Policy::offload}) {
    Settings& settings = scenes.back().plans.emplace_back();
    settings.policy = policy;
    settings.transfer.prefetch = 2;
  }
  return scenes;
}

// What one model did under its share of the plans, and under plans that show one thing each.
struct ModelTrials {
  std::vector<Trial> drawn;
  Trial keep, recompute, offload;
};

ModelTrials try_model(const TransformerConfig& config, const Options& options, Draw& draw) {
  Transformer model(config, options.seed);
  const State batch = Corpus(options.data, {config.batch, config.context}).batch(options.seed, 0);
  const std::string name = name_of(config);
  Rounds rounds;
  if (options.quick) rounds.count = 3;
  rounds.on_round = [&](int done) {
    std::fprintf(stderr, "\r%s: round %d of %d ", name.c_str(), done, rounds.count);
  };
  const ProbeSubject subject{name, model, batch};
  std::vector<Scenery> all =
      Interleaved(subject, rounds).run(host_machine(ample), [&](const BlockTable& table) {
        return draw_scenes(draw, config.lora ? SwapMode::h2d : SwapMode::two_way, options, table);
      });
  std::fprintf(stderr, "\n");
  ModelTrials trials;
  for (const Scenery& each : all) {
    std::printf("%s, %s\n", name.c_str(), describe(each.machine).c_str());
    for (const Trial& trial : each.trials) print(trial);
  }
  std::vector<Trial>& shown = all.back().trials;
  trials.keep = std::move(shown[0]);
  trials.recompute = std::move(shown[1]);
  trials.offload = std::move(shown[2]);
  all.pop_back();
  for (Scenery& each : all)
    std::move(each.trials.begin(), each.trials.end(), std::back_inserter(trials.drawn));
  return trials;
}

bool validate(const Options& options) {
  TransformerConfig full, adapted;
  adapted.lora = LoraConfig{};
  std::printf("%s; seed %llu\n", machine_name().c_str(), static_cast<unsigned long long>(options.seed));
  print_heading();
  Draw draw(options.seed);
  std::vector<Trial> drawn;
  std::vector<ModelTrials> models;
  for (const TransformerConfig& config : {full, adapted}) {
    models.push_back(try_model(config, options, draw));
    std::move(models.back().drawn.begin(), models.back().drawn.end(), std::back_inserter(drawn));
  }
  std::printf("\n");
  bool good = summarize(drawn, {});
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
