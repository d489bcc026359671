// Measures a chain on a device: what each block costs in time and memory, from whole training steps.
//
// Steps run through the executor, under the plan that keeps everything, so that what it costs to carry out a
// plan is part of what is measured. One step before them lists the saved tensors; one after them, which
// recomputes every block, tells what a forward needs that saves nothing, and one for each scope that can be
// recomputed by itself what that needs. Sizes are exact; times are medians.
// Layers are listed on a device whose compute has ended when it is given back: elsewhere nobody sees where
// one ends and the next begins.
//
// Cost: (warm_up + repeats + 2) steps and one for each such scope, and the memory of the plan that keeps
// everything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "profiler/assemble.h"
#include "runtime/chain.h"
#include "runtime/device.h"

namespace stowage {

struct ProbeOptions {
  std::int64_t warm_up = 2, repeats = 9;
  // Told how many steps are done of how many, after each.
  std::function<void(std::int64_t done, std::int64_t all)> on_step = [](std::int64_t, std::int64_t) {};
};

// The chain to measure, and the batch to train it on, already on the device.
struct ProbeSubject {
  std::string name;
  Chain& chain;
  const State& batch;
};

// Parameters stay as they are: the optimizer, AdamW, runs with a learning rate of 0. Torch's random state
// moves on. Throws SystemError, with what was needed, where the device's memory does not hold the step.
Assembled probe_blocks(const ProbeSubject& subject, Device& device, const ProbeOptions& options);

}  // namespace stowage
