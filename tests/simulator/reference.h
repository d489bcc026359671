// The execution model of docs' section 3 once more, written from its text alone, to hold the simulator
// against.
//
// It shares nothing with the project but the types of profiles, machines, settings and plans: no program, no
// expansion of settings, counts or storages. One clock, a lane for compute and each kind of copy, and a list
// of what changes memory when. It knows the ideal arena, links that do not disturb each other (`duplex` 1) or
// compute (`compute_slowdown` 0), and a pinned pool that is empty when the step begins and from which nothing
// goes on to a disk. `reference.py` beside it says the same a third time, by another method.
#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage::reference {

struct Answer {
  std::int64_t step_ns = 0, compute_ns = 0, stall_ns = 0;
  std::int64_t peak_bytes = 0;                  // on the device
  std::int64_t host_activation_peak_bytes = 0;  // offloaded tensors, not swapped weights
  std::int64_t host_pinned_peak_bytes = 0;      // these and swapped weights, where they are pinned, rounded
  std::int64_t disk_peak_bytes = 0;
  std::int64_t pinned_on_device_bytes = 0;  // where pinned memory counts there, with its margin

  bool operator==(const Answer&) const = default;
};

// Throws std::invalid_argument for settings or machines outside of the above, std::logic_error if the step
// cannot end. Cost: quadratic in the blocks.
Answer simulate(const Profile& profile, const Machine& machine, const Settings& settings);
// The same for a free plan, of whose blocks each decides for itself.
Answer simulate(const Profile& profile, const Machine& machine, const Plan& plan);

}  // namespace stowage::reference
