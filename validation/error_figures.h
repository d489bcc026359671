// How far predictions are from measurements, over many cells.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace stowage {

// Errors are fractions of what was measured, without sign. All 0 where there are no cells.
struct ErrorFigures {
  std::size_t cells = 0;
  double median = 0;  // the middle one, or the mean of the two
  double p90 = 0;     // the least that nine of ten do not pass
  double worst = 0;

  bool operator==(const ErrorFigures&) const = default;
};

ErrorFigures figures_of(std::vector<double> errors);

// (predicted - measured) / measured.
double error_of(double predicted, double measured);

}  // namespace stowage
