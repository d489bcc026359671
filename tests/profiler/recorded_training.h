// A training recorded by PyTorch's profiler, and imported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "plan/plan.h"
#include "plan/program.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/mark.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "runtime/profiler_recording.h"
#include "tests/profiler/token_batch.h"
#include "traces/import/import.h"

namespace stowage::tests {

// Steps that keep everything, after two that are not recorded: the optimizer's state is there. Each recorded
// one is shown to `see`. Throws where memory runs out.
inline ImportReport recorded_training(const TransformerConfig& config, const Profile& profile,
                                      HostDevice& device, std::uint64_t steps,
                                      const std::function<void(const StepReport&)>& see = {}) {
  constexpr std::uint64_t unrecorded = 2;
  const std::string file =
      (std::filesystem::temp_directory_path() / "stowage_recorded_training.json").string();
  Transformer model(config, 1);
  Executor executor(model, device);
  AdamW optimizer(executor.trained(), {});
  const BlockTable table(profile);
  const Program program = compile(table, expand(table, {}).plan);
  const State batch = tokens_of(config);
  std::optional<ProfilerRecording> recording;
  for (std::uint64_t step = 0; step < unrecorded + steps; ++step) {
    if (step == unrecorded) recording.emplace();
    const Mark mark("ProfilerStep#", step);
    const StepResult result = executor.run(program, batch, optimizer);
    const auto& report = std::get<StepReport>(result);
    if (see && recording) see(report);
  }
  recording->write(file);
  ImportReport report = import_recording(file, {});
  std::filesystem::remove(file);
  return report;
}

}  // namespace stowage::tests
