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

const Standing* Frontier::last_within(Bytes peak) const {
  const auto larger =
      std::upper_bound(points_.begin(), points_.end(), peak,
                       [](Bytes peak, const Standing& point) { return peak < point.figures.peak; });
  return larger == points_.begin() ? nullptr : &*(larger - 1);
}

// Of the points that are no larger the last is the fastest.
bool Frontier::covers(const Standing& other) const {
  const Standing* point = last_within(other.figures.peak);
  return point && covers_point(*point, other);
}

std::optional<Nanos> Frontier::fastest_within(Bytes peak) const {
  const Standing* point = last_within(peak);
  return point ? std::optional(point->figures.step) : std::nullopt;
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
