// A robust fit: the constants that make residuals small, where a few residuals may stay large.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace stowage {

// Minimises the sum over rows of 2 s^2 (sqrt(1 + (r/s)^2) - 1), which is r^2 for small residuals and grows as
// |r| beyond `usual` (s), and a little for leaving `start`, so that what no row tells of stays there.
// Levenberg-Marquardt; deterministic. Cost: some dozens of (constants + 1) evaluations of all rows.
std::vector<double> least_squares(
    const std::vector<double>& start, std::size_t rows,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, double usual);

}  // namespace stowage
