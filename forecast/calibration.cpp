#include "forecast/calibration.h"

#include <cmath>
#include <map>
#include <tuple>

#include "validation/published_figures.h"

namespace stowage {
namespace {

// As large as the rows of the published sweep have them: of the families that the shape describes, peaks are
// a tenth off and seconds a half; the same run on another GPU repeats its peak to a part in three hundred.
constexpr EffectSizes effects_of_seconds{.code = 0.05,
                                         .family = 0.1,
                                         .run = 0.03,
                                         .precision = 0.05,
                                         .checkpointing = 0.005,
                                         .gpu = 0.01,
                                         .row = 0.003,
                                         .noise = 0.003};
constexpr EffectSizes effects_of_bytes{.code = 0.005,
                                       .family = 0.005,
                                       .run = 0.002,
                                       .precision = 0.003,
                                       .checkpointing = 0.003,
                                       .gpu = 1e-5,
                                       .row = 0.001,
                                       .noise = 1e-5};

bool same_as_printed(const SweepRow& a, const SweepRow& b) {
  const double apart = std::abs(gib_of(a.measured->peak - b.measured->peak));
  return apart < 1.5 * gib_of(std::max(a.resolution, b.resolution));
}

std::vector<MeasuredStep> measured_steps(const std::vector<SweepRow>& rows,
                                         const std::vector<Family>& families, const std::vector<Gpu>& gpus) {
  std::vector<MeasuredStep> steps;
  std::map<std::tuple<std::string, std::string, std::string>, const SweepRow*> none;
  for (const SweepRow& row : rows)
    if (row.measured && row.mode == "none") none[{row.family, row.precision, row.gpu}] = &row;
  const auto inert = [&](const SweepRow& row) {
    const auto found = none.find({row.family, row.precision, row.gpu});
    return row.mode == "layer" && found != none.end() && same_as_printed(row, *found->second);
  };
  std::map<std::tuple<std::string, std::string, std::string>, bool> silent;
  for (const SweepRow& row : rows)
    if (row.measured && inert(row)) silent[{row.family, row.precision, row.gpu}] = true;
  for (const SweepRow& row : rows) {
    if (!row.measured || (row.mode != "none" && row.mode != "layer")) continue;
    const Family* family = find_family(families, row.family);
    const Gpu* gpu = find_gpu(gpus, row.gpu);
    if (family == nullptr || gpu == nullptr || family->groups.empty()) continue;
    const auto training = published_training(*family, row);
    if (!training) continue;
    MeasuredStep step{situation(*family, row.family, *training, *gpu, row.mode == "layer"),
                      seconds_of(row.measured->step), static_cast<double>(row.measured->peak.value)};
    if (silent.contains({row.family, row.precision, row.gpu})) step.situation.described = false;
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<Situation> situations(const std::vector<MeasuredStep>& steps) {
  std::vector<Situation> all;
  for (const MeasuredStep& step : steps) all.push_back(step.situation);
  return all;
}

std::vector<double> left_of_seconds(const std::vector<MeasuredStep>& steps, const StepModel& model) {
  std::vector<double> left;
  for (const MeasuredStep& step : steps)
    left.push_back(std::log(step.seconds / model.seconds(step.situation)));
  return left;
}

std::vector<double> left_of_bytes(const std::vector<MeasuredStep>& steps, const StepModel& model) {
  std::vector<double> left;
  for (const MeasuredStep& step : steps) left.push_back(std::log(step.bytes / model.bytes(step.situation)));
  return left;
}

Estimate estimate(double modelled, const Effect& effect) {
  return {modelled * std::exp(effect.low), modelled * std::exp(effect.mean),
          modelled * std::exp(effect.high)};
}

Reading reading_of(const StepForecast& forecast) {
  return {nanos_of(forecast.seconds.middle), Bytes{std::llround(forecast.bytes.middle)}};
}

}  // namespace

std::optional<TrainedShape> published_training(const Family& family, const SweepRow& row) {
  const auto precision = precision_of(row.precision);
  if (!precision) return std::nullopt;
  TrainedShape training{family.recipe, *precision, true};
  if (row.family.ends_with("(no-compile)")) training.recipe.compiled = false;
  return training;
}

SweepBasis FamilyForecast::basis() const {
  return {reading_of(none), reading_of(layer)};
}

Calibration::Calibration(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                         const std::vector<Gpu>& gpus)
    : measured_(measured_steps(rows, families, gpus)),
      model_(StepModel::fitted(measured_)),
      seconds_(situations(measured_), left_of_seconds(measured_, model_), effects_of_seconds),
      bytes_(situations(measured_), left_of_bytes(measured_, model_), effects_of_bytes) {}

StepForecast Calibration::forecast(const Situation& situation, double unlike) const {
  const Effect seconds = seconds_.of(situation, unlike), bytes = bytes_.of(situation, unlike);
  return {estimate(model_.seconds(situation), seconds), estimate(model_.bytes(situation), bytes), bytes.seen};
}

FamilyForecast Calibration::forecast(const Family& family, const std::string& label,
                                     const TrainedShape& training, const Gpu& gpu, double unlike) const {
  return {forecast(situation(family, label, training, gpu, false), unlike),
          forecast(situation(family, label, training, gpu, true), unlike)};
}

}  // namespace stowage
