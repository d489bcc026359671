// What every device has to do: under every plan, training on it computes the same bits as without one.
#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "plan/settings.h"
#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

struct Candidate {
  Device& device;
  c10::Device place;
  Machine machine;
};

// Trains the small transformer under each of the settings; all must leave the same bits as the plain loop,
// and a timeline that the program allows.
void require_conformance(const Candidate& candidate, bool lora, const std::vector<Settings>& all);

}  // namespace stowage
