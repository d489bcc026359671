#include "cli/training_review.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "cli/correction_text.h"

namespace stowage {

TrainingReview::TrainingReview(const Figures& figures, const Plan& plan, Output& output)
    : figures_(figures),
      plan_(plan),
      output_(output),
      predicted_(predict(BlockTable(figures.profile), plan, figures.machine)) {}

std::optional<Program> TrainingReview::next(const std::vector<Timeline>& measured) {
  Entry& entry = entries_.emplace_back();
  entry.seen = {predicted_.timeline, measured};
  if (plan_.settings) entry.inert = without_effect(figures_, *plan_.settings, entry.seen);
  for (const Inert& inert : entry.inert) output_.warn(inert_sentence(inert));
  if (!budget_) {
    const Refit fit = refit(figures_, entry.seen.predicted, entry.seen.measured);
    output_.say(drift_sentence(entry.seen, fit.drift));
    return std::nullopt;
  }
  TuneRequest request;
  request.budget = *budget_;
  request.threads = std::max(1U, std::thread::hardware_concurrency());
  entry.correction = correct(figures_, plan_, entry.seen, request);
  output_.say(drift_sentence(entry.seen, entry.correction->refit.drift));
  output_.say(decision_sentence(*entry.correction));
  if (!entry.correction->better) return std::nullopt;
  change_to(*entry.correction);
  return predicted_.program;
}

void TrainingReview::change_to(const Correction& correction) {
  figures_ = correction.refit.figures;
  plan_ = correction.better->plan;
  predicted_ = predict(BlockTable(figures_.profile), plan_, figures_.machine);
}

void TrainingReview::write(JsonWriter& json) const {
  json.key("corrections").begin_array();
  for (const Entry& entry : entries_) write_correction(json, entry.seen, entry.correction, entry.inert);
  json.end_array();
}

}  // namespace stowage
