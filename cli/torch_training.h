// Trains a subject under a program, from its first step on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cli/torch_subject.h"
#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "runtime/host_device.h"
#include "runtime/memory_pool.h"
#include "traces/timeline.h"

namespace stowage {

struct TrainedStep {
  double loss, gradient_norm;
  Nanos step;
  Bytes device_peak, host_peak;
};

// What ended a training early.
struct TrainingShortage {
  std::optional<StepId> step;  // of the program; absent: before it began
  Refusal refusal;
};

struct Training {
  std::vector<TrainedStep> steps;
  std::optional<TrainingShortage> shortage;
  Timeline timeline;  // of one of the last steps, the one of median length
  PinnedReport pool;  // after the last step

  // Of all steps but the first, which also makes buffers; 0 where there is none.
  Nanos median_step() const;
  Bytes device_peak() const;  // of all steps
  Bytes host_peak() const;
};

struct TrainingOptions {
  std::int64_t steps = 10;
  std::optional<Bytes> budget;  // for the device, in each step; absent: no limit
  // A recording of the last steps, three of them where there are more, by LibTorch's profiler; "": none.
  std::string recording;
  std::function<void(const TrainedStep&)> on_step = [](const TrainedStep&) {};
};

// The same subject, program or not the same, gives the same losses and gradients, bit for bit.
Training train(const Subject& subject, HostDevice& device, const Program& program,
               const TrainingOptions& options);

}  // namespace stowage
