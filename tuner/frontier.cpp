#include "tuner/frontier.h"

#include <algorithm>
#include <tuple>

namespace stowage {
namespace {

bool covers_point(const Standing& a, const Standing& b) {
  if (a.figures.step > b.figures.step || a.figures.peak > b.figures.peak) return false;
  if (a.figures.step < b.figures.step || a.figures.peak < b.figures.peak) return true;
  return std::tie(a.host, a.candidate) <= std::tie(b.host, b.candidate);
}

}  // namespace

bool Frontier::covers(const Standing& other) const {
  const auto larger =
      std::upper_bound(points_.begin(), points_.end(), other.figures.peak,
                       [](Bytes peak, const Standing& point) { return peak < point.figures.peak; });
  // Of the points that are no larger the last is the fastest.
  return larger != points_.begin() && covers_point(*(larger - 1), other);
}

bool Frontier::offer(const Standing& standing) {
  if (covers(standing)) return false;
  const auto begin =
      std::lower_bound(points_.begin(), points_.end(), standing.figures.peak,
                       [](const Standing& point, Bytes peak) { return point.figures.peak < peak; });
  const auto end = std::find_if(begin, points_.end(), [&](const Standing& point) {
    return point.figures.step < standing.figures.step;
  });
  if (begin == end) {
    points_.insert(begin, standing);
  } else {
    *begin = standing;
    points_.erase(begin + 1, end);
  }
  return true;
}

}  // namespace stowage
