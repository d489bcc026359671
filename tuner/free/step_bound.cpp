#include "tuner/free/step_bound.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

// A time as a function of x alone, once r is as small as a line allows.
struct Ray {
  double begin, slope;

  double at(double x) const { return begin + slope * x; }
};

struct Highest {
  double value;
  Ray ray;
};

Highest highest_at(const std::vector<Ray>& rays, double x) {
  Highest highest{rays.front().at(x), rays.front()};
  for (const Ray& ray : rays)
    if (ray.at(x) > highest.value) highest = {ray.at(x), ray};
  return highest;
}

// The least of the highest ray over [0, most]. Wherever two rays cross, one of them falling and one rising,
// the least is not lower: so each step ends at a bound that holds.
double least_of_highest(const std::vector<Ray>& rays, double most) {
  const Highest at_begin = highest_at(rays, 0), at_end = highest_at(rays, most);
  if (at_begin.ray.slope >= 0) return at_begin.value;
  if (at_end.ray.slope <= 0) return at_end.value;
  Ray falling = at_begin.ray, rising = at_end.ray;
  double crossing = 0;
  for (int i = 0; i < 200; ++i) {
    const double x = (rising.begin - falling.begin) / (falling.slope - rising.slope);
    crossing = falling.at(x);
    const Highest there = highest_at(rays, x);
    if (there.value <= crossing * (1 + 1e-12)) break;
    if (there.ray.slope == 0) return there.value;
    (there.ray.slope < 0 ? falling : rising) = there.ray;
  }
  return crossing;
}

}  // namespace

std::optional<Nanos> least_step(const std::vector<TimePiece>& pieces, const std::vector<PricedLine>& lines,
                                Bytes most_bytes) {
  if (most_bytes < Bytes{}) return {};
  std::vector<Ray> rays;
  const auto put = [&](const PricedLine& line) {
    for (const TimePiece& piece : pieces)
      rays.push_back(
          {piece.fixed + piece.by_recompute * line.value, piece.by_byte - piece.by_recompute * line.price});
  };
  put({0, 0});
  for (const PricedLine& line : lines) {
    if (std::isinf(line.value) && std::isfinite(line.price)) return {};
    if (std::isfinite(line.price)) put(line);
  }
  const double least = least_of_highest(rays, static_cast<double>(most_bytes.value));
  // Times are whole; what is computed here may be off by far less than a hundredth.
  return Nanos{static_cast<std::int64_t>(std::ceil(least - 0.01))};
}

}  // namespace stowage
