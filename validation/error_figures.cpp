#include "validation/error_figures.h"

#include <algorithm>
#include <cmath>

namespace stowage {

ErrorFigures figures_of(std::vector<double> errors) {
  if (errors.empty()) return {};
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  const std::size_t nine_of_ten = (9 * n + 9) / 10;  // rounded up
  return {n, (errors[(n - 1) / 2] + errors[n / 2]) / 2, errors[nine_of_ten - 1], errors.back()};
}

double error_of(double predicted, double measured) {
  return (predicted - measured) / measured;
}

}  // namespace stowage
