// Puts a report together from what a command has in hand.
#pragma once

#include <optional>
#include <string>

#include "cli/prediction.h"
#include "cli/report_data.h"
#include "plan/block_table.h"

namespace stowage {

class ReportDraft {
 public:
  void budget(std::optional<Bytes> device, std::optional<Bytes> host);
  // What it is about, the machine's memory for a budget, and what other budgets would get.
  void model(const Profile& profile, const Machine& machine, const TuneResult& tuned);
  // The plan of the timelines that follow. Needs a model.
  void plan(const BlockTable& table, const Plan& plan, Predicted predicted);
  // Predictions before measurements: the first is what others are compared with. False where it is not a run
  // of the plan to its end, so that its memory is shown as a total.
  bool add(Timeline timeline);
  void text(const std::string& title, const std::string& text);

  // With at least one timeline.
  Report finish() &&;

 private:
  Report report_;
  std::optional<Predicted> predicted_;
};

}  // namespace stowage
