#include "cli/report_draft.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/comparison.h"
#include "cli/free_tuning.h"
#include "cli/quantity.h"
#include "cli/setting_flags.h"

namespace stowage {
namespace {

// "predicted", and "measured 2" for the second of its kind.
std::string title_among(const std::vector<ReportTimeline>& before, const Timeline& timeline) {
  const auto same = std::count_if(before.begin(), before.end(), [&](const ReportTimeline& each) {
    return each.timeline.source == timeline.source;
  });
  const std::string word = timeline.source == "simulated" ? "predicted" : "measured";
  return same == 0 ? word : word + " " + std::to_string(same + 1);
}

std::string capitalized(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string alone_sentence(const ReportTimeline& shown) {
  const Timeline& timeline = shown.timeline;
  return capitalized(shown.title) + ": a step takes " + readable(timeline.step) + ", of which " +
         readable(timeline.step - timeline.compute) + " waiting, and at most " +
         readable(peak(timeline.memory.device)) + " on the device.";
}

std::string beside_sentence(const ReportTimeline& first, const ReportTimeline& other) {
  const Comparison comparison = compare(first.timeline, other.timeline);
  return capitalized(other.title) + ": " + readable(other.timeline.step) + " a step (" +
         change(comparison.step.difference()) + ") and " + readable(peak(other.timeline.memory.device)) +
         " on the device (" + change(comparison.device_peak.difference()) + ").";
}

}  // namespace

void ReportDraft::budget(std::optional<Bytes> device, std::optional<Bytes> host) {
  report_.device_budget = device;
  report_.host_budget = host;
}

void ReportDraft::model(const Profile& profile, const Machine& machine, const TuneResult& tuned) {
  report_.profile = profile;
  report_.tuned = tuned;
  budget(machine.device.usable(), machine.host.memory);
}

void ReportDraft::plan(const BlockTable& table, const Plan& plan, Predicted predicted) {
  predicted_ = std::move(predicted);
  report_.plan = {summary(table, plan), plan, predicted_->outcome.run};
  report_.answer.push_back(sentence(*predicted_, predicted_->machine));
}

bool ReportDraft::add(Timeline timeline) {
  ReportTimeline shown{title_among(report_.timelines, timeline), std::move(timeline), {}};
  if (predicted_)
    shown.kinds = composition(predicted_->program, shown.timeline, predicted_->machine.host.pinned_rounding);
  const bool of_plan = !predicted_ || shown.kinds;
  report_.timelines.push_back(std::move(shown));
  return of_plan;
}

void ReportDraft::text(const std::string& title, const std::string& text) {
  report_.texts.push_back({title, text});
}

Report ReportDraft::finish() && {
  const std::vector<ReportTimeline>& timelines = report_.timelines;
  if (report_.answer.empty()) report_.answer.push_back(alone_sentence(timelines.front()));
  for (std::size_t i = 1; i < timelines.size(); ++i)
    report_.answer.push_back(beside_sentence(timelines.front(), timelines[i]));
  report_.name = report_.profile ? report_.profile->name : timelines.front().timeline.name;
  if (report_.plan && report_.plan->plan.settings)
    text("As flags of stowage", flags_of(*report_.plan->plan.settings));
  if (report_.plan) text("As a plan file", to_json(report_.plan->plan, *report_.profile));
  return std::move(report_);
}

}  // namespace stowage
