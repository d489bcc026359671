// stowage report: a page to look at.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/report_page.h"
#include "traces/error.h"
#include "traces/file.h"
#include "traces/json.h"

namespace stowage {
namespace {

struct NamedTimeline {
  std::string file;
  Timeline timeline;
};

// Predictions first, so that what was measured is set beside them.
std::vector<NamedTimeline> read_timelines(const std::vector<std::string>& files) {
  std::vector<NamedTimeline> timelines;
  for (const std::string& file : files) timelines.push_back({file, read_timeline(file)});
  std::stable_partition(timelines.begin(), timelines.end(),
                        [](const NamedTimeline& each) { return each.timeline.source == "simulated"; });
  return timelines;
}

// "predicted", and "measured 2" for the second of its kind.
std::string title_among(const std::vector<ReportTimeline>& before, const Timeline& timeline) {
  const auto same = std::count_if(before.begin(), before.end(), [&](const ReportTimeline& each) {
    return each.timeline.source == timeline.source;
  });
  const std::string word = timeline.source == "simulated" ? "predicted" : "measured";
  return same == 0 ? word : word + " " + std::to_string(same + 1);
}

std::string alone_sentence(const Timeline& timeline) {
  return std::string(timeline.source == "simulated" ? "Predicted" : "Measured") + ": a step takes " +
         readable(timeline.step) + ", of which " + readable(timeline.step - timeline.compute) +
         " waiting, and at most " + readable(peak(timeline.memory.device)) + " on the device.";
}

std::string beside_sentence(const Timeline& predicted, const ReportTimeline& measured) {
  const Comparison comparison = compare(predicted, measured.timeline);
  std::string title = measured.title;
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title + ": " + readable(measured.timeline.step) + " a step (" +
         change(comparison.step.difference()) + ") and " + readable(peak(measured.timeline.memory.device)) +
         " on the device (" + change(comparison.device_peak.difference()) + ").";
}

class ReportCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"report", "Write a page that shows a step: timeline, memory, and what other budgets would get",
            "stowage report measured.json --profile profile.json --machine machine.json --plan plan.json "
            "-o report.html"};
  }

  void declare(CLI::App& app) override {
    app.add_option("TIMELINE", files_,
                   "Timelines, as `stowage simulate -o` and `stowage train -o` write them")
        ->type_name("FILE");
    app.add_option("-o,--output", output_, "Where to write the page")->required()->type_name("FILE");
    app.add_option("--profile", profile_, "What the model costs: adds the blocks and other budgets")
        ->type_name("FILE");
    app.add_option("--machine", machine_, "What it runs on; with --profile")->type_name("FILE");
    app.add_option("--trainer-settings", trainer_settings_,
                   "A trainer's configuration to show for copying, as `stowage tune --rewrite` writes it")
        ->type_name("FILE");
    memory_.declare(app);
    plan_.declare(app);
  }

  Answer run(Output& output) override {
    check_flags();
    Report report;
    std::vector<NamedTimeline> timelines = read_timelines(files_);
    if (!profile_.empty())
      describe_model(report, timelines, output);
    else
      report.device_budget = memory_.vram, report.host_budget = memory_.host_ram;
    for (NamedTimeline& each : timelines) add(report, std::move(each), output);
    finish(report);
    const std::string page = report_page(report);
    write_file(output_, page);
    for (const std::string& sentence : report.answer) output.answer(sentence);
    output.say("\nWrote " + output_ + ": open it in a browser.");
    output.object(json_of(report, page.size()));
    return Answer::done;
  }

 private:
  void check_flags() const {
    if (profile_.empty() && !machine_.empty())
      throw InputError("--profile", "", "expected together with --machine");
    if (machine_.empty() && !profile_.empty())
      throw InputError("--machine", "", "expected together with --profile");
    if (profile_.empty() && plan_.any())
      throw InputError(plan_.first(), "", "expected with --profile and --machine");
    if (profile_.empty() && files_.empty())
      throw InputError("TIMELINE", "", "expected one at least, or --profile and --machine");
  }

  // With a plan, or with nothing measured, there is a prediction; without a plan it is of the best one.
  void describe_model(Report& report, std::vector<NamedTimeline>& timelines, Output& output) {
    report.profile = read_profile(profile_);
    const Machine machine = memory_.apply(read_machine(machine_));
    report.device_budget = machine.device.usable();
    report.host_budget = machine.host.memory;
    table_.emplace(*report.profile);
    blaming(profile_, [&] {
      const Tuning tuning =
          run_tuning(*table_, machine, {}, std::max(1U, std::thread::hardware_concurrency()));
      report.tuned = tuning.result;
      if (plan_.any())
        adopt(report, plan_.choose(*report.profile, *table_), machine, output);
      else if (timelines.empty())
        adopt(report, {tuning.result.best.value_or(tuning.result.least).plan, {}}, machine, output);
      if (predicted_) report.answer.push_back(sentence(*predicted_, machine));
    });
    const bool simulated = !timelines.empty() && timelines.front().timeline.source == "simulated";
    if (predicted_ && !simulated) timelines.insert(timelines.begin(), {"", predicted_->timeline});
  }

  void adopt(Report& report, const Expansion& expansion, const Machine& machine, Output& output) {
    for (const std::string& warning : expansion.warnings) output.warn(warning);
    predicted_ = predict(*table_, expansion.plan, machine);
    report.plan = {summary(*table_, expansion.plan), expansion.plan, predicted_->outcome.run};
  }

  void add(Report& report, NamedTimeline from, Output& output) const {
    if (report.profile && from.timeline.name != report.profile->name)
      output.warn(from.file + " is of the profile \"" + from.timeline.name + "\", not of \"" +
                  report.profile->name + "\"");
    ReportTimeline shown{title_among(report.timelines, from.timeline), std::move(from.timeline), {}};
    if (predicted_) {
      shown.kinds =
          composition(predicted_->program, shown.timeline, predicted_->machine.host.pinned_rounding);
      if (!shown.kinds)
        output.warn(from.file + " did not run this plan to its end: its memory is shown as a total");
    }
    report.timelines.push_back(std::move(shown));
  }

  void finish(Report& report) const {
    if (report.answer.empty()) report.answer.push_back(alone_sentence(report.timelines.front().timeline));
    for (std::size_t i = 1; i < report.timelines.size(); ++i)
      report.answer.push_back(beside_sentence(report.timelines.front().timeline, report.timelines[i]));
    report.name = report.profile ? report.profile->name : report.timelines.front().timeline.name;
    if (!trainer_settings_.empty())
      report.texts.push_back({"The trainer's settings", read_file(trainer_settings_)});
    if (!report.plan) return;
    if (report.plan->plan.settings)
      report.texts.push_back({"As flags of stowage", flags_of(*report.plan->plan.settings)});
    report.texts.push_back({"As a plan file", to_json(report.plan->plan, *report.profile)});
  }

  std::string json_of(const Report& report, std::size_t bytes) const {
    JsonWriter json;
    json.begin_object().field("output", output_).field("bytes", bytes);
    json.field("timelines", report.timelines.size());
    write_texts(json, "answer", report.answer);
    return json.end_object().text();
  }

  std::vector<std::string> files_;
  std::string output_, profile_, machine_, trainer_settings_;
  MemoryFlags memory_;
  PlanFlags plan_;
  std::optional<BlockTable> table_;
  std::optional<Predicted> predicted_;
};

}  // namespace

std::unique_ptr<Command> report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace stowage
