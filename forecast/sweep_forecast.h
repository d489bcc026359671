// A sweep predicted without any of its own rows.
//
// The rows `none` and `layer` that validation predicts from are forecasts here, from rows of other families,
// other GPUs or weights held otherwise. Of the calibration's rows those of a bench (family, precision and
// GPU) that the table holds are left out, so that nothing is predicted from itself.
#pragma once

#include <vector>

#include "forecast/calibration.h"

namespace stowage {

struct RowForecast {
  Estimate seconds, bytes;
  bool interpolated = false;
};

// The interval of a step that is priced from two others: between theirs, by where its figures are.
RowForecast row_forecast(const FamilyForecast& ends, const Reading& predicted);

struct SweepForecast {
  SweepReport report;
  std::vector<std::optional<RowForecast>> rows;  // of each answer that has a prediction
  // Of the rows compared, the shares whose measured figure is within its interval.
  double seconds_covered = 0, bytes_covered = 0;
  std::size_t calibrated_from = 0;  // published rows
};

// Rows whose GPU or precision is in no catalogue are left out and say so.
SweepForecast forecast_sweep(const std::vector<SweepRow>& rows, const std::vector<SweepRow>& published,
                             const std::vector<Family>& families, const std::vector<Gpu>& gpus);

// Cross-validation: each family's rows are forecast from those of the others; each family's rows of one GPU
// from those of all others. The answers are those of all folds together. Cost: a calibration for each fold.
SweepForecast forecast_by_family(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                                 const std::vector<Gpu>& gpus);
SweepForecast forecast_by_gpu(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                              const std::vector<Gpu>& gpus);

}  // namespace stowage
