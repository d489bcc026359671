#include "traces/import/intervals.h"

#include <algorithm>

namespace stowage {

std::vector<Interval> united(std::vector<Interval> all) {
  std::erase_if(all, [](const Interval& interval) { return interval.end <= interval.begin; });
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> out;
  for (const Interval& interval : all) {
    if (!out.empty() && interval.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, interval.end);
    } else {
      out.push_back(interval);
    }
  }
  return out;
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
