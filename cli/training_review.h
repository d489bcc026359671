// Watches the first steps of a training, and says under which plan it goes on.
//
//   steps under a plan -> without effect?  -> corrected figures -> search -> a plan that pays: again
#pragma once

#include <optional>
#include <vector>

#include "cli/output.h"
#include "cli/prediction.h"
#include "plan/plan.h"
#include "traces/json.h"
#include "tuner/correction.h"

namespace stowage {

class TrainingReview {
 public:
  // Training begins under `plan`, with predictions from `figures`. `output` must outlive it.
  TrainingReview(const Figures& figures, const Plan& plan, Output& output);

  // Other plans that fit may replace it. Without this they are only told apart from what was predicted.
  void allow_change(const Budget& budget) { budget_ = budget; }
  // What the latest steps were like, and the program to go on with; absent: that of predicted().
  std::optional<Program> next(const std::vector<Timeline>& measured);

  const Plan& plan() const { return plan_; }
  // Of the plan in use, with the figures as they are known by now.
  const Predicted& predicted() const { return predicted_; }
  // `corrections`, an array: one object for each call of next().
  void write(JsonWriter& json) const;

 private:
  struct Entry {
    Observation seen;
    std::optional<Correction> correction;
    std::vector<Inert> inert;
  };

  void change_to(const Correction& correction);

  Figures figures_;
  Plan plan_;
  Output& output_;
  std::optional<Budget> budget_;
  Predicted predicted_;
  std::vector<Entry> entries_;
};

}  // namespace stowage
