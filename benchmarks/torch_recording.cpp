// How near the times that a recording gives are to those that our own recorder reads in the same steps:
// trains the default model and one with adapters, recorded by PyTorch's profiler, imports the recording, and
// compares each block's forward and backward. Bytes are held equal by a test.
//
//   torch_recording [STEPS]     (7)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "benchmarks/machine_name.h"
#include "benchmarks/torch_errors.h"
#include "profiler/host_machine.h"
#include "tests/profiler/recorded_training.h"

using namespace stowage;
using benchmarks::median;
using benchmarks::milliseconds;

namespace {

struct Passes {
  std::vector<std::vector<Nanos>> forward, backward;  // by block
};

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

bool compare(const TransformerConfig& config, int steps) {
  Passes passes;
  passes.forward.resize(static_cast<std::size_t>(config.layers));
  passes.backward.resize(static_cast<std::size_t>(config.layers));
  HostDevice device(host_machine(Bytes{8LL << 30}));
  const ImportReport report =
      tests::recorded_training(config, bare_profile(config), device, static_cast<std::uint64_t>(steps),
                               [&](const StepReport& step) { read(step.timeline, passes); });
  std::printf("%s\n  block        forward ms   recorded          backward ms   recorded\n",
              name_of(config).c_str());
  double worst = 0;
  for (std::size_t i = 0; i < report.found.blocks.size(); ++i) {
    const auto& block = report.found.blocks[i];
    const double own_forward = milliseconds(median(passes.forward[i])), forward = milliseconds(block.forward);
    const double own_backward = milliseconds(median(passes.backward[i])),
                 backward = milliseconds(block.backward);
    const double forward_error = 100 * error_of(forward, own_forward);
    const double backward_error = 100 * error_of(backward, own_backward);
    std::printf("  %-10s %12.3f %10.3f %+6.2f%% %14.3f %10.3f %+6.2f%%\n", block.name.c_str(), own_forward,
                forward, forward_error, own_backward, backward, backward_error);
    worst = std::max({worst, std::abs(forward_error), std::abs(backward_error)});
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
