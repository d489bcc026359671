// Measures a subject and a device, with progress shown.
#pragma once

#include <cstdint>

#include "cli/torch_subject.h"
#include "profiler/assemble.h"
#include "profiler/link_probe.h"
#include "runtime/host_device.h"

namespace stowage {

// The subject's profile, with the device's budget lifted from now on. Cost: `repeats` + 3 training steps.
Assembled measure_profile(const Subject& subject, HostDevice& device, std::int64_t repeats);

// `machine` with its links as the device shows them. Cost: some seconds.
Machine measure_links(Machine machine, HostDevice& device);

}  // namespace stowage
