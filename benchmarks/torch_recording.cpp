// How near the times that a recording gives are to those that our own recorder reads in the same steps:
// trains the default model and one with adapters, recorded by PyTorch's profiler, imports the recording, and
// compares each block's forward and backward. Bytes are held equal by a test.
//
//   torch_recording [STEPS]     (7)
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/machine_name.h"
#include "plan/plan.h"
#include "profiler/host_machine.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/mark.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "runtime/profiler_recording.h"
#include "traces/import/import.h"

using namespace stowage;

namespace {

struct Passes {
  std::vector<std::vector<Nanos>> forward, backward;  // by block
};

Nanos median(std::vector<Nanos> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Profile bare_profile(const TransformerConfig& config) {
  Profile profile;
  profile.name = name_of(config);
  BlockProfile block;
  block.name = "block";
  block.count = config.layers;
  profile.blocks = {block};
  return profile;
}

void read(const Timeline& timeline, Passes& passes) {
  for (const Span& span : timeline.spans) {
    if (span.kind == StepKind::forward) passes.forward[*span.block].push_back(span.end - span.begin);
    if (span.kind == StepKind::backward) passes.backward[*span.block].push_back(span.end - span.begin);
  }
}

// Two steps are not recorded.
ImportReport record(const TransformerConfig& config, int steps, Passes& passes) {
  HostDevice device(host_machine(Bytes{8LL << 30}));
  Transformer model(config, 1);
  Executor executor(model, device);
  AdamW optimizer(executor.trained(), {});
  const BlockTable table(bare_profile(config));
  const Program program = compile(table, expand(table, {}).plan);
  const at::Tensor tokens = at::randint(256, {config.batch, config.context}, at::kLong);
  const State batch{tokens, tokens};
  const std::string file = (std::filesystem::temp_directory_path() / "stowage_torch_recording.json").string();
  std::optional<ProfilerRecording> recording;
  for (int step = 0; step < steps + 2; ++step) {
    if (step == 2) recording.emplace();
    const Mark mark("ProfilerStep#", static_cast<std::uint64_t>(step));
    const StepResult result = executor.run(program, batch, optimizer);
    if (step >= 2) read(std::get<StepReport>(result).timeline, passes);
  }
  recording->write(file);
  ImportReport report = import_recording(file, {});
  std::filesystem::remove(file);
  return report;
}

// In percent.
double difference(Nanos imported, const std::vector<Nanos>& own) {
  const auto read = static_cast<double>(median(own).value);
  return 100 * (static_cast<double>(imported.value) - read) / read;
}

bool compare(const TransformerConfig& config, int steps) {
  Passes passes;
  passes.forward.resize(static_cast<std::size_t>(config.layers));
  passes.backward.resize(static_cast<std::size_t>(config.layers));
  const ImportReport report = record(config, steps, passes);
  std::printf("%s\n  block        forward ms   recorded          backward ms   recorded\n",
              name_of(config).c_str());
  double worst = 0;
  for (std::size_t i = 0; i < report.found.blocks.size(); ++i) {
    const auto& block = report.found.blocks[i];
    const double forward = difference(block.forward, passes.forward[i]);
    const double backward = difference(block.backward, passes.backward[i]);
    std::printf("  %-10s %12.3f %10.3f %+6.2f%% %14.3f %10.3f %+6.2f%%\n", block.name.c_str(),
                static_cast<double>(median(passes.forward[i]).value) / 1e6,
                static_cast<double>(block.forward.value) / 1e6, forward,
                static_cast<double>(median(passes.backward[i]).value) / 1e6,
                static_cast<double>(block.backward.value) / 1e6, backward);
    worst = std::max({worst, std::abs(forward), std::abs(backward)});
  }
  std::printf("  largest difference: %.2f%% (aim: at most 10%%)\n\n", worst);
  return report.found.blocks.size() == passes.forward.size() && worst <= 10;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  std::printf("%s; %d steps\n", benchmarks::machine_name().c_str(), steps);
  TransformerConfig config;
  bool met = compare(config, steps);
  config.lora = LoraConfig{8, 16};
  met = compare(config, steps) && met;
  return met ? 0 : 1;
}
