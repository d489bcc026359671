#include "forecast/least_squares.h"

#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace stowage {
namespace {

// In units of `usual`: what leaving the start by a factor of e counts.
constexpr double pull = 0.5;

struct Problem {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<double>& start;
  std::size_t rows;
  const std::function<double(const std::vector<double>&, std::size_t)>& residual;
  double usual;

  int inputs() const { return static_cast<int>(start.size()); }
  int values() const { return static_cast<int>(rows + start.size()); }

  int operator()(const Eigen::VectorXd& at, Eigen::VectorXd& out) const {
    const std::vector<double> constants(at.data(), at.data() + at.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const double r = residual(constants, i) / usual;
      out[static_cast<Eigen::Index>(i)] = std::copysign(std::sqrt(2 * (std::sqrt(1 + r * r) - 1)), r);
    }
    for (std::size_t i = 0; i < start.size(); ++i)
      out[static_cast<Eigen::Index>(rows + i)] = pull * (constants[i] - start[i]);
    return 0;
  }
};

}  // namespace

std::vector<double> least_squares(
    const std::vector<double>& start, std::size_t rows,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, double usual) {
  const Problem problem{start, rows, residual, usual};
  Eigen::NumericalDiff<Problem> differentiated(problem, 1e-10);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Problem>> solver(differentiated);
  constexpr int most_evaluations = 4000;
  solver.parameters.maxfev = most_evaluations;
  Eigen::VectorXd constants =
      Eigen::Map<const Eigen::VectorXd>(start.data(), static_cast<Eigen::Index>(start.size()));
  solver.minimize(constants);
  return {constants.data(), constants.data() + constants.size()};
}

}  // namespace stowage
