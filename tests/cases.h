// How many random cases a test tries.
#pragma once

#include <cstdint>

namespace stowage::tests {

// `count` in a test cycle, and STOWAGE_TEST_CASES times as many where that is set: a night's run sets it
// to 20.
std::uint64_t cases(std::uint64_t count);

}  // namespace stowage::tests
