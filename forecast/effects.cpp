#include "forecast/effects.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>

namespace stowage {
namespace {

double shared(const Situation& a, const Situation& b, const EffectSizes& sizes) {
  const std::string& code = a.family->facts.implementation;
  double all = 0;
  if (!code.empty() && code == b.family->facts.implementation && a.described && b.described)
    all += sizes.code;
  if (a.family->name != b.family->name) return all;
  all += sizes.family;
  if (a.label != b.label) return all;
  all += sizes.run;
  if (a.training.precision == b.training.precision) {
    all += sizes.precision;
    if (a.checkpointed == b.checkpointed) all += sizes.row;
  }
  if (a.checkpointed == b.checkpointed) all += sizes.checkpointing;
  if (a.gpu->name == b.gpu->name) all += sizes.gpu;
  return all;
}

double total(const Situation& situation, const EffectSizes& sizes) {
  return shared(situation, situation, sizes) + sizes.noise;
}

// How many standard deviations nine of ten stay within; at least what normal ones would.
constexpr double least_quantile = 1.645;

double nine_of_ten(std::vector<double> values) {
  if (values.empty()) return 2 * least_quantile;
  std::sort(values.begin(), values.end());
  // One more than there are, as for a value that is not among them.
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(values.size() + 1)));
  return std::max(least_quantile, values[std::min(rank, values.size()) - 1]);
}

}  // namespace

struct Effects::Solved {
  std::vector<Situation> rows;
  EffectSizes sizes;
  Eigen::LLT<Eigen::MatrixXd> factor;
  Eigen::VectorXd weights;  // inverse covariance times what is left over
  // [described][family seen]
  double quantiles[2][2] = {{0, 0}, {0, 0}};

  // Rows left out together say how far they are from what the others say of them, in standard deviations.
  void measure_quantiles() {
    const auto n = static_cast<Eigen::Index>(rows.size());
    const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(n, n));
    std::vector<double> of[2][2];
    for (const bool seen : {false, true}) {
      std::vector<bool> done(rows.size(), false);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (done[i]) continue;
        std::vector<Eigen::Index> out;
        bool others = false;
        for (std::size_t j = 0; j < rows.size(); ++j) {
          if (rows[j].family->name != rows[i].family->name) continue;
          const bool together = !seen || rows[j].gpu->name == rows[i].gpu->name;
          others = others || !together;
          if (together) out.push_back(static_cast<Eigen::Index>(j));
        }
        for (const Eigen::Index j : out) done[static_cast<std::size_t>(j)] = true;
        if (seen && !others) continue;
        add_errors(inverse, out, of[rows[i].described ? 1 : 0][seen ? 1 : 0]);
      }
    }
    for (const int described : {0, 1})
      for (const int seen : {0, 1}) quantiles[described][seen] = nine_of_ten(of[described][seen]);
  }

  void add_errors(const Eigen::MatrixXd& inverse, const std::vector<Eigen::Index>& out,
                  std::vector<double>& errors) const {
    const Eigen::MatrixXd covariance =
        Eigen::MatrixXd(inverse(out, out))
            .llt()
            .solve(Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(out.size()),
                                             static_cast<Eigen::Index>(out.size())));
    const Eigen::VectorXd error = covariance * weights(out);
    for (Eigen::Index k = 0; k < error.size(); ++k)
      errors.push_back(std::abs(error[k]) / std::sqrt(covariance(k, k)));
  }
};

Effects::Effects(const std::vector<Situation>& rows, const std::vector<double>& left,
                 const EffectSizes& sizes)
    : solved_(std::make_unique<Solved>()) {
  solved_->rows = rows;
  solved_->sizes = sizes;
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd covariance(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      covariance(i, j) = shared(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)], sizes) +
                         (i == j ? sizes.noise : 0);
  solved_->factor.compute(covariance);
  solved_->weights = solved_->factor.solve(Eigen::Map<const Eigen::VectorXd>(left.data(), n));
  solved_->measure_quantiles();
}

Effects::~Effects() = default;
Effects::Effects(Effects&&) noexcept = default;

Effect Effects::of(const Situation& situation, double unlike) const {
  const auto n = static_cast<Eigen::Index>(solved_->rows.size());
  Eigen::VectorXd alike(n);
  bool seen = false;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Situation& row = solved_->rows[static_cast<std::size_t>(i)];
    alike[i] = shared(situation, row, solved_->sizes);
    seen = seen || row.family->name == situation.family->name;
  }
  // A tenth for each factor of e in size.
  constexpr double of_size = 0.1;
  const double left = total(situation, solved_->sizes) - alike.dot(solved_->factor.solve(alike));
  const double deviation = std::sqrt(std::max(left, 0.0) + of_size * of_size * unlike * unlike);
  const double reach = deviation * solved_->quantiles[situation.described ? 1 : 0][seen ? 1 : 0];
  const double mean = alike.dot(solved_->weights);
  return {mean, mean - reach, mean + reach, seen};
}

}  // namespace stowage
