// Random programs that no compiler would write: waits across all lanes, buffers at any edge, copies of
// nothing, steps of no length, and some that can never end.
#pragma once

#include <cstdint>

#include "plan/program.h"
#include "traces/machine.h"

namespace stowage::tests {

// The same seed gives the same program everywhere. Each buffer comes to life before it dies.
Program random_program(std::uint64_t seed);

// Rates and latencies that make times meet, and miss by one. `shared`: links and compute slow each other.
Machine random_machine(std::uint64_t seed, bool shared);

}  // namespace stowage::tests
