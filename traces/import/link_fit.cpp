#include "traces/import/link_fit.h"

#include <algorithm>
#include <cmath>

#include "traces/import/medians.h"

namespace stowage {
namespace {

constexpr Bytes least_telling{64 << 10};

// latency in ns, slope in ns a byte
struct Line {
  double latency = 0, slope = 0;

  double at(const CopySample& sample) const {
    return latency + slope * static_cast<double>(sample.bytes.value);
  }
  double error(const CopySample& sample) const {
    const auto measured = static_cast<double>(sample.duration.value);
    return std::abs(at(sample) - measured) / measured;
  }
};

// Minimises the sum of ((latency + slope * bytes) / duration - 1)^2, with neither below 0.
Line least_squares(const std::vector<CopySample>& samples) {
  double pp = 0, pq = 0, qq = 0, p = 0, q = 0;
  for (const CopySample& sample : samples) {
    const double a = 1.0 / static_cast<double>(sample.duration.value),
                 b = static_cast<double>(sample.bytes.value) * a;
    pp += a * a;
    pq += a * b;
    qq += b * b;
    p += a;
    q += b;
  }
  const double determinant = pp * qq - pq * pq;
  if (determinant > 1e-6 * pp * qq) {
    const Line line{(p * qq - q * pq) / determinant, (q * pp - p * pq) / determinant};
    if (line.latency >= 0 && line.slope > 0) return line;
  }
  return {0, q / qq};
}

}  // namespace

std::optional<CopyFit> fit_link(const std::vector<CopySample>& samples) {
  std::vector<CopySample> used;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(used),
               [](const CopySample& sample) { return sample.bytes.value > 0 && sample.duration.value > 0; });
  const bool telling = std::any_of(used.begin(), used.end(),
                                   [](const CopySample& sample) { return sample.bytes >= least_telling; });
  if (!telling) return std::nullopt;
  Line line = least_squares(used);
  std::vector<CopySample> close;
  std::copy_if(used.begin(), used.end(), std::back_inserter(close),
               [&](const CopySample& sample) { return line.error(sample) < 0.5; });
  if (close.size() * 2 >= used.size()) line = least_squares(close);
  std::vector<double> errors;
  for (const CopySample& sample : used) errors.push_back(line.error(sample));
  const double rate = std::min(1e9 / line.slope, 9e18);
  return CopyFit{.rate = {std::max<std::int64_t>(1, std::llround(rate))},
                 .latency = {std::llround(line.latency)},
                 .error = median(std::move(errors)),
                 .samples = static_cast<std::int64_t>(used.size())};
}

}  // namespace stowage
