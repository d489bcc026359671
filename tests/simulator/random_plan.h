// Random free plans: each block decides for itself, and every mix that check() allows may occur.
#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "traces/profile.h"

namespace stowage::tests {

// The same seed gives the same plan everywhere.
Plan random_plan(const Profile& profile, std::uint64_t seed);

}  // namespace stowage::tests
