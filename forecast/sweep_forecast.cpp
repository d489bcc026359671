#include "forecast/sweep_forecast.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "validation/published_figures.h"

namespace stowage {
namespace {

using BenchName = std::tuple<std::string, std::string, std::string>;

BenchName bench_of(const SweepRow& row) {
  return {row.family, row.precision, row.gpu};
}

std::vector<SweepRow> without_benches_of(const std::vector<SweepRow>& published,
                                         const std::vector<SweepRow>& rows) {
  std::set<BenchName> held;
  for (const SweepRow& row : rows) held.insert(bench_of(row));
  std::vector<SweepRow> others;
  std::copy_if(published.begin(), published.end(), std::back_inserter(others),
               [&](const SweepRow& row) { return !held.contains(bench_of(row)); });
  return others;
}

// Between two estimates, by how far `value` is from the first's middle to the second's.
Estimate between(const Estimate& from, const Estimate& to, double value) {
  const double whole = to.middle - from.middle;
  const double part = whole != 0 ? std::clamp((value - from.middle) / whole, 0.0, 1.0) : 0;
  const auto mixed = [&](double Estimate::*end) {
    return value *
           std::exp((1 - part) * std::log(from.*end / from.middle) + part * std::log(to.*end / to.middle));
  };
  return {mixed(&Estimate::low), value, mixed(&Estimate::high)};
}

bool covers(const Estimate& estimate, double value) {
  return estimate.low <= value && value <= estimate.high;
}

void measure_coverage(SweepForecast& forecast) {
  std::size_t compared = 0, seconds = 0, bytes = 0;
  for (std::size_t i = 0; i < forecast.rows.size(); ++i) {
    const SweepAnswer& answer = forecast.report.answers[i];
    if (answer.use != RowUse::predicted || !forecast.rows[i]) continue;
    ++compared;
    if (covers(forecast.rows[i]->seconds, seconds_of(answer.row.measured->step))) ++seconds;
    if (covers(forecast.rows[i]->bytes, static_cast<double>(answer.row.measured->peak.value))) ++bytes;
  }
  if (compared == 0) return;
  forecast.seconds_covered = static_cast<double>(seconds) / static_cast<double>(compared);
  forecast.bytes_covered = static_cast<double>(bytes) / static_cast<double>(compared);
}

SweepForecast forecast_by(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                          const std::vector<Gpu>& gpus,
                          const std::function<std::string(const SweepRow&)>& fold_of) {
  std::map<std::string, std::vector<SweepRow>> folds;
  for (const SweepRow& row : rows) folds[fold_of(row)].push_back(row);
  SweepForecast all;
  std::vector<SweepAnswer> answers;
  for (const auto& [name, fold] : folds) {
    // Rows of the fold's family that are not in the fold stay in: what is left out is the fold.
    std::vector<SweepRow> others;
    for (const SweepRow& row : rows)
      if (fold_of(row) != name) others.push_back(row);
    SweepForecast part = forecast_sweep(fold, others, families, gpus);
    all.calibrated_from = std::max(all.calibrated_from, part.calibrated_from);
    std::move(part.report.answers.begin(), part.report.answers.end(), std::back_inserter(answers));
    std::move(part.rows.begin(), part.rows.end(), std::back_inserter(all.rows));
  }
  all.report = SweepReport::of(std::move(answers));
  measure_coverage(all);
  return all;
}

}  // namespace

RowForecast row_forecast(const FamilyForecast& ends, const Reading& predicted) {
  return {between(ends.layer.seconds, ends.none.seconds, seconds_of(predicted.step)),
          between(ends.layer.bytes, ends.none.bytes, static_cast<double>(predicted.peak.value)),
          ends.none.interpolated};
}

SweepForecast forecast_by_family(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                                 const std::vector<Gpu>& gpus) {
  return forecast_by(rows, families, gpus, [&](const SweepRow& row) {
    const Family* family = find_family(families, row.family);
    return family != nullptr ? family->name : row.family;
  });
}

SweepForecast forecast_by_gpu(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                              const std::vector<Gpu>& gpus) {
  return forecast_by(rows, families, gpus, [&](const SweepRow& row) { return row.family + ", " + row.gpu; });
}

SweepForecast forecast_sweep(const std::vector<SweepRow>& rows, const std::vector<SweepRow>& published,
                             const std::vector<Family>& families, const std::vector<Gpu>& gpus) {
  const Calibration calibration(without_benches_of(published, rows), families, gpus);
  std::map<BenchName, FamilyForecast> forecasts;
  for (const SweepRow& row : rows) {
    const Family* family = find_family(families, row.family);
    const Gpu* gpu = find_gpu(gpus, row.gpu);
    if (family == nullptr || gpu == nullptr || family->groups.empty()) continue;
    const auto training = published_training(*family, row);
    if (!training || forecasts.contains(bench_of(row))) continue;
    forecasts.emplace(bench_of(row), calibration.forecast(*family, row.family, *training, *gpu));
  }
  SweepForecast forecast;
  forecast.calibrated_from = calibration.rows();
  forecast.report = predict_sweep(rows, families, [&](const SweepRow& row) -> std::optional<SweepBasis> {
    const auto found = forecasts.find(bench_of(row));
    if (found == forecasts.end()) return std::nullopt;
    return found->second.basis();
  });
  for (const SweepAnswer& answer : forecast.report.answers) {
    forecast.rows.emplace_back();
    if (answer.predicted)
      forecast.rows.back() = row_forecast(forecasts.at(bench_of(answer.row)), *answer.predicted);
  }
  measure_coverage(forecast);
  return forecast;
}

}  // namespace stowage
