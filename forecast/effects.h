// What rows of like steps say of one that was not measured.
//
// What the step model leaves over of a row is taken as a sum of effects, each shared by some rows: of the
// code that a family shares with others, of the family, of the run, of the run with weights held in one way,
// of the run with or without checkpointing, on one GPU. Their usual sizes are given, so that how alike two
// steps are is a number, and the best linear estimate of an unmeasured step follows (Henderson 1975; the same
// as kriging with such a covariance), with the variance that is left.
//
//   same family, same precision, other GPU    nearly all is shared: hardly anything is left to guess
//   other family of the same code             a part
//   nothing in common                         the model alone, and the full variance
//
// Effects are not quite normal: real quantiles are taken from what rows say of each other when a whole
// family, or one GPU of a family, is left out.
#pragma once

#include <memory>
#include <vector>

#include "forecast/step_model.h"

namespace stowage {

// Variances of logarithms.
struct EffectSizes {
  double code, family, run, precision, checkpointing, gpu, row, noise;
};

struct Effect {
  double mean = 0;           // of the logarithm of measured over modelled
  double low = 0, high = 0;  // nine of ten are between
  bool seen = false;         // a row of the same family was there
};

class Effects {
 public:
  // `left` holds what the model leaves over of each row. Cost: cubic in the rows.
  Effects(const std::vector<Situation>& rows, const std::vector<double>& left, const EffectSizes& sizes);
  ~Effects();
  Effects(Effects&&) noexcept;

  // `unlike`: how far the wanted size is from the one that the family's rows have, as a logarithm.
  Effect of(const Situation& situation, double unlike = 0) const;

 private:
  struct Solved;
  std::unique_ptr<Solved> solved_;
};

}  // namespace stowage
