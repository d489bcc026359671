// Measures a subject and a device, with progress shown.
#pragma once

#include <cstdint>

#include "cli/torch_device.h"
#include "cli/torch_subject.h"
#include "profiler/assemble.h"
#include "profiler/link_probe.h"

namespace stowage {

// The subject's profile, with the device's budget lifted from now on. Cost: `repeats` + 3 training steps.
Assembled measure_profile(const Subject& subject, ChosenDevice& device, std::int64_t repeats);

// `machine` with its links as the device shows them, and as much pinned memory as it turns out to have where
// that is not played. Cost: some seconds.
Machine measure_links(Machine machine, ChosenDevice& device);

}  // namespace stowage
