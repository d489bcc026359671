// stowage report: a page to look at.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/report_draft.h"
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
    std::vector<NamedTimeline> timelines = read_timelines(files_);
    ReportDraft draft;
    if (!trainer_settings_.empty()) draft.text("The trainer's settings", read_file(trainer_settings_));
    if (profile_.empty())
      draft.budget(memory_.vram, memory_.host_ram);
    else
      describe_model(draft, timelines, output);
    for (NamedTimeline& each : timelines)
      if (!draft.add(std::move(each.timeline)))
        output.warn(each.file + " did not run this plan to its end: its memory is shown as a total");
    const Report report = std::move(draft).finish();
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
  void describe_model(ReportDraft& draft, std::vector<NamedTimeline>& timelines, Output& output) const {
    const Profile profile = read_profile(profile_);
    const Machine machine = memory_.apply(read_machine(machine_));
    const BlockTable table(profile);
    for (const NamedTimeline& each : timelines)
      if (each.timeline.name != profile.name)
        output.warn(each.file + " is of the profile \"" + each.timeline.name + "\", not of \"" +
                    profile.name + "\"");
    blaming(profile_, [&] {
      const Tuning tuning = run_tuning(table, machine, {}, std::max(1U, std::thread::hardware_concurrency()));
      draft.model(profile, machine, tuning.result);
      if (!plan_.any() && !timelines.empty()) return;
      const Expansion expansion = plan_.any()
                                      ? plan_.choose(profile, table)
                                      : Expansion{tuning.result.best.value_or(tuning.result.least).plan, {}};
      for (const std::string& warning : expansion.warnings) output.warn(warning);
      const Predicted predicted = predict(table, expansion.plan, machine);
      draft.plan(table, expansion.plan, predicted);
      const bool simulated = !timelines.empty() && timelines.front().timeline.source == "simulated";
      if (!simulated) timelines.insert(timelines.begin(), {"the prediction", predicted.timeline});
    });
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
};

}  // namespace

std::unique_ptr<Command> report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace stowage
