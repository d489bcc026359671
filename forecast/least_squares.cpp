#include "forecast/least_squares.h"

#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace stowage {
namespace {

struct Problem {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<Prior>& priors;
  std::size_t rows;
  const std::function<double(const std::vector<double>&, std::size_t)>& residual;
  double usual;

  int inputs() const { return static_cast<int>(priors.size()); }
  int values() const { return static_cast<int>(rows + priors.size()); }

  int operator()(const Eigen::VectorXd& at, Eigen::VectorXd& out) const {
    const std::vector<double> constants(at.data(), at.data() + at.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const double r = residual(constants, i) / usual;
      out[static_cast<Eigen::Index>(i)] = std::copysign(std::sqrt(2 * (std::sqrt(1 + r * r) - 1)), r);
    }
    for (std::size_t i = 0; i < priors.size(); ++i)
      out[static_cast<Eigen::Index>(rows + i)] = priors[i].pull * (constants[i] - priors[i].value);
    return 0;
  }
};

}  // namespace

std::vector<double> least_squares(
    const std::vector<Prior>& priors, std::size_t rows,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, double usual) {
  const Problem problem{priors, rows, residual, usual};
  Eigen::NumericalDiff<Problem> differentiated(problem, 1e-10);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Problem>> solver(differentiated);
  constexpr int most_evaluations = 4000;
  solver.parameters.maxfev = most_evaluations;
  Eigen::VectorXd constants(static_cast<Eigen::Index>(priors.size()));
  for (std::size_t i = 0; i < priors.size(); ++i) constants[static_cast<Eigen::Index>(i)] = priors[i].value;
  solver.minimize(constants);
  return {constants.data(), constants.data() + constants.size()};
}

}  // namespace stowage
