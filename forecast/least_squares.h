// A robust fit: the constants that make residuals small, where a few residuals may stay large.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace stowage {

// What is known of a constant before: its value, and how much leaving that counts, in units of `usual` for
// each unit that it is left by.
struct Prior {
  double value = 0, pull = 0;
};

// Minimises the sum over rows of 2 s^2 (sqrt(1 + (r/s)^2) - 1), which is r^2 for small residuals and grows as
// |r| beyond `usual` (s), and of the priors' pulls, so that what no row tells of stays. Starts at the priors;
// Levenberg-Marquardt; deterministic. Cost: some dozens of (constants + 1) evaluations of all rows.
std::vector<double> least_squares(
    const std::vector<Prior>& priors, std::size_t rows,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, double usual);

}  // namespace stowage
