#include "traces/import/intervals.h"

#include <algorithm>

namespace stowage {

std::vector<Interval> united(std::vector<Interval> all) {
  std::erase_if(all, [](const Interval& interval) { return interval.end <= interval.begin; });
  const auto earlier = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(all.begin(), all.end(), earlier)) std::sort(all.begin(), all.end(), earlier);
  std::size_t count = 0;  // of those at the front that are united
  for (const Interval& interval : all) {
    if (count > 0 && interval.begin <= all[count - 1].end) {
      all[count - 1].end = std::max(all[count - 1].end, interval.end);
    } else {
      all[count++] = interval;
    }
  }
  all.resize(count);
  return all;
}

Nanos length(const std::vector<Interval>& united) {
  Nanos sum;
  for (const Interval& interval : united) sum += interval.end - interval.begin;
  return sum;
}

std::vector<Interval> common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> out;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Interval both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (both.begin < both.end) out.push_back(both);
    if (x->end < y->end) {
      ++x;
    } else {
      ++y;
    }
  }
  return out;
}

Nanos overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return length(common(a, b));
}

}  // namespace stowage
