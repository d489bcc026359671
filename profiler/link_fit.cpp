#include "profiler/link_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "traces/error.h"

namespace stowage {
namespace {

bool one_size(std::span<const CopyTiming> timings) {
  return std::all_of(timings.begin(), timings.end(),
                     [&](const CopyTiming& timing) { return timing.bytes == timings.front().bytes; });
}

// What remains for the rate where the latency is 0.
double slope_alone(const Eigen::MatrixX2d& relative) {
  return relative.col(1).sum() / relative.col(1).squaredNorm();
}

}  // namespace

LinkFit fit_link(std::span<const CopyTiming> timings) {
  if (timings.empty() || one_size(timings)) throw DefectError("a link is fitted to copies of several sizes");
  // A row is (1, bytes) / time, and the sum that it should give is 1.
  Eigen::MatrixX2d relative(static_cast<Eigen::Index>(timings.size()), 2);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const auto time = static_cast<double>(std::max<std::int64_t>(timings[i].time.value, 1));
    relative.row(static_cast<Eigen::Index>(i)) << 1 / time,
        static_cast<double>(timings[i].bytes.value) / time;
  }
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(relative.rows());
  Eigen::Vector2d solution = relative.colPivHouseholderQr().solve(ones);
  if (solution[0] < 0) solution = {0, slope_alone(relative)};
  const double error =
      std::sqrt((relative * solution - ones).squaredNorm() / static_cast<double>(ones.size()));
  const double bytes_per_second = 1e9 / std::max(solution[1], 1e-9);
  return {{{std::llround(std::max(bytes_per_second, 1.0))}, {std::llround(solution[0])}}, error};
}

}  // namespace stowage
