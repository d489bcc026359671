// Forecasts of steps that nobody measured, from published rows: the step model with its constants fitted to
// them, and what rows of like steps leave over of it.
#pragma once

#include <vector>

#include "forecast/effects.h"
#include "forecast/gpus.h"
#include "forecast/step_model.h"
#include "validation/sweep.h"

namespace stowage {

// Nine of ten are between `low` and `high`.
struct Estimate {
  double low = 0, middle = 0, high = 0;
};

struct StepForecast {
  Estimate seconds, bytes;
  // Interpolated: rows of the family were there, of another GPU or with weights held otherwise. Else guessed.
  bool interpolated = false;
};

// The two steps that every other schedule is priced from.
struct FamilyForecast {
  StepForecast none, layer;

  SweepBasis basis() const;
};

class Calibration {
 public:
  // Of the rows `none` and `layer` that were measured, of families and GPUs that the catalogues have. Keeps
  // pointers to both. Cost: a fit, about a tenth of a second for a hundred rows.
  Calibration(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
              const std::vector<Gpu>& gpus);

  // `unlike`: see Effects::of.
  StepForecast forecast(const Situation& situation, double unlike = 0) const;
  FamilyForecast forecast(const Family& family, const std::string& label, const TrainedShape& training,
                          const Gpu& gpu, double unlike = 0) const;
  const StepModel& model() const { return model_; }
  std::size_t rows() const { return measured_.size(); }

 private:
  std::vector<MeasuredStep> measured_;
  StepModel model_;
  Effects seconds_, bytes_;
};

// How a published run trained: the family's recipe, with weights held as the row says. A note at the end of
// the name that says so ("no-compile") takes compilation back. Absent where the precision is not known.
std::optional<TrainedShape> published_training(const Family& family, const SweepRow& row);

}  // namespace stowage
