#include "traces/import/intervals.h"

#include <algorithm>

namespace stowage {

void append(std::vector<BusyInterval>& times, BusyInterval time) {
  if (!times.empty() && times.back().begin <= time.begin && time.begin <= times.back().end) {
    times.back().end = std::max(times.back().end, time.end);
  } else {
    times.push_back(time);
  }
}

std::vector<BusyInterval> united(std::vector<BusyInterval> all) {
  std::erase_if(all, [](const BusyInterval& interval) { return interval.end <= interval.begin; });
  const auto earlier = [](const BusyInterval& a, const BusyInterval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(all.begin(), all.end(), earlier)) std::sort(all.begin(), all.end(), earlier);
  std::size_t count = 0;  // of those at the front that are united
  for (const BusyInterval& interval : all) {
    if (count > 0 && interval.begin <= all[count - 1].end) {
      all[count - 1].end = std::max(all[count - 1].end, interval.end);
    } else {
      all[count++] = interval;
    }
  }
  all.resize(count);
  return all;
}

Nanos length(const std::vector<BusyInterval>& united) {
  Nanos sum;
  for (const BusyInterval& interval : united) sum += interval.end - interval.begin;
  return sum;
}

std::vector<BusyInterval> common(const std::vector<BusyInterval>& a, const std::vector<BusyInterval>& b) {
  std::vector<BusyInterval> out;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const BusyInterval both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (both.begin < both.end) out.push_back(both);
    if (x->end < y->end) {
      ++x;
    } else {
      ++y;
    }
  }
  return out;
}

Nanos overlap(const std::vector<BusyInterval>& a, const std::vector<BusyInterval>& b) {
  return length(common(a, b));
}

}  // namespace stowage
