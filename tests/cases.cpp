#include "tests/cases.h"

#include <cstdlib>

namespace stowage::tests {

std::uint64_t cases(std::uint64_t count) {
  const char* times = std::getenv("STOWAGE_TEST_CASES");
  return times ? count * std::strtoull(times, nullptr, 10) : count;
}

}  // namespace stowage::tests
