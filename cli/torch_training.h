// Trains a subject under a program, from its first step on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cli/torch_device.h"
#include "cli/torch_subject.h"
#include "plan/pinned_buckets.h"
#include "plan/program.h"
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
  Timeline timeline;        // of one of the last steps, the one of median length
  PinnedReport pool;        // after the last step
  std::size_t changed = 0;  // the first step under the program that was trained under in the end

  // Of all steps under that program but its first, which also makes buffers; 0 where there is none.
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
  // Asked after the first steps under a program, with the timelines of all but the very first. Training goes
  // on under the program that it answers, and asks again; after an answer of none it asks no more. Empty: not
  // asked.
  std::function<std::optional<Program>(const std::vector<Timeline>&)> reconsider;
};

// Steps under a program before it is reconsidered; the first of them is not counted.
inline constexpr std::size_t considered_steps = 4;

// The same subject, program or not the same, gives the same losses and gradients, bit for bit. Throws
// InputError where the model keeps far more than the program says; see runtime/excess.h.
Training train(const Subject& subject, ChosenDevice& device, const Program& program,
               const TrainingOptions& options);

}  // namespace stowage
