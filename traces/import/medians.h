// The middle of a few measurements.
#pragma once

#include <algorithm>
#include <vector>

namespace stowage {

// The lower one of two middles, so that the answer is one of `values`; a default value of none.
template <class Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return Value{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace stowage
