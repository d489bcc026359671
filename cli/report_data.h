// What the page of `stowage report` shows, and the JSON that its scripts read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/tuning.h"
#include "plan/plan.h"
#include "simulator/composition.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "traces/timeline.h"

namespace stowage {

struct ReportTimeline {
  std::string title;  // "predicted"
  Timeline timeline;
  std::optional<Composition> kinds;  // absent: memory is shown as a total
};

// Something to copy into a trainer or a shell.
struct ReportText {
  std::string title, text;
};

struct ReportPlan {
  std::string words;  // what it does, in a line
  Plan plan;
  Run run;
};

struct Report {
  std::string name;                       // of the model
  std::vector<std::string> answer;        // sentences, the first being the answer
  std::vector<ReportTimeline> timelines;  // the first is what others are compared with
  std::optional<Bytes> device_budget, host_budget;
  std::optional<Profile> profile;
  std::optional<ReportPlan> plan;
  std::optional<TuneResult> tuned;  // what other budgets would get
  std::vector<ReportText> texts;
};

// Times are columns of differences from one row to the next, which keeps a page of 1,000 blocks small.
std::string report_data(const Report& report);

}  // namespace stowage
