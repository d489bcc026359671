// The middle of a few times that one thing took.
#pragma once

#include <algorithm>
#include <vector>

#include "traces/units.h"

namespace stowage {

// The upper one of two middles. `times` is not empty.
inline Nanos middle_of(std::vector<Nanos> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace stowage
