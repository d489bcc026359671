#include "profiler/sample.h"

#include <algorithm>

#include "traces/error.h"

namespace stowage {

Spread spread_of(std::vector<Nanos> repeats) {
  if (repeats.empty()) throw DefectError("a timing without repeats has no median");
  std::sort(repeats.begin(), repeats.end());
  const std::size_t n = repeats.size();
  const Nanos below = repeats[(n - 1) / 2], above = repeats[n / 2];
  const Nanos range = repeats[n - 1 - n / 20] - repeats[n / 20];
  return {{(below + above).value / 2}, {range.value / 2}};
}

}  // namespace stowage
