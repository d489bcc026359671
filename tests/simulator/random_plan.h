// Random free plans: each block decides for itself, and every mix that check() allows may occur.
#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "plan/program.h"
#include "tests/simulator/random_case.h"
#include "traces/profile.h"

namespace stowage::tests {

// The same seed gives the same plan everywhere.
Plan random_plan(const Profile& profile, std::uint64_t seed);

// What a compiler makes of a case: of its settings, or with an odd seed of a free plan.
Program compiled(const reference::Case& random, std::uint64_t seed);

}  // namespace stowage::tests
