// Predicts a published sweep: from the rows `none` and `layer` of each family, precision and GPU, and from
// the family's shape, to what its other rows should say.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "validation/error_figures.h"
#include "validation/sweep_table.h"

namespace stowage {

enum class RowUse : std::uint8_t {
  basis,      // `none` and `layer`, where both are there: predictions are made from them
  predicted,  // compared: counts in the figures
  inert,      // measured as if its option had not been set, though the option should have mattered
  left_out    // no figures, no basis, or a mode that does more than checkpoint
};

struct SweepAnswer {
  SweepRow row;
  RowUse use = RowUse::left_out;
  std::optional<Reading> predicted;  // of `basis`, `predicted` and `inert`, where there is a basis
  std::string reason;                // of `inert` and `left_out`: why

  double time_error() const;  // signed fractions; only where measured and predicted are there
  double memory_error() const;

  bool operator==(const SweepAnswer&) const = default;
};

struct SweepReport {
  std::vector<SweepAnswer> answers;  // in the order of the rows
  ErrorFigures memory, time;

  // Those of some answers, for instance of one family.
  static SweepReport of(std::vector<SweepAnswer> answers);
};

// The two readings that every other schedule of a family is predicted from.
struct SweepBasis {
  Reading none, layer;
};

// A basis from elsewhere for the rows of one family, precision and GPU; absent: they are left out.
using BasisOf = std::function<std::optional<SweepBasis>(const SweepRow&)>;

// Every family of `rows` must be in `families`. A row is inert where its peak equals that of its null plan
// (`layer` for what refines it, otherwise `none`) as far as they are printed, while the prediction differs by
// more than the 1 % that predictions are good for. Where `none` or `layer` is missing, or both are equal, the
// shape alone says what should have been. Cost: about a hundred evaluations for each family, precision and
// GPU.
SweepReport predict_sweep(const std::vector<SweepRow>& rows, const std::vector<Family>& families);

// The same with a basis from elsewhere, so that `none` and `layer` are predicted as well, and rows that were
// not measured. What the rows measured decides only which of them are inert.
SweepReport predict_sweep(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                          const BasisOf& basis_of);

}  // namespace stowage
