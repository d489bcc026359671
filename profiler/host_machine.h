// The machine that the host device plays where nobody gives a machine file.
#pragma once

#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

// `device_memory` is the budget for tensors. The host has this computer's memory, half of which may hold
// copies. Links run at 1.5 GB/s each way with a latency of 20 us: slow enough that moving a block's
// activations takes about as long as computing them, as on a real card, and that this computer's own memory
// keeps up.
Machine host_machine(Bytes device_memory);

}  // namespace stowage
