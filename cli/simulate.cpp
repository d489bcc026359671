// stowage simulate: what a step would take under one plan.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/phase_figures.h"
#include "cli/pool_figures.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/sparkline.h"
#include "cli/table.h"
#include "traces/error.h"
#include "traces/export/chrome.h"
#include "traces/file.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

LoadMode parse_load(const std::string& text) {
  if (text == "staged") return LoadMode::staged;
  if (text == "streamed") return LoadMode::streamed;
  throw InputError("--load", "", "expected one of staged, streamed, not \"" + text + "\"");
}

std::string share_of(Nanos part, Nanos whole) {
  return whole.value == 0 ? "" : percent(static_cast<double>(part.value) / static_cast<double>(whole.value));
}

std::string stall_words(const Run& run) {
  std::string text;
  for (std::size_t cause = 0; cause < stall_names.size(); ++cause)
    if (run.stalls[cause] != Nanos{})
      text +=
          (text.empty() ? "" : ", ") + std::string(stall_names[cause]) + " " + readable(run.stalls[cause]);
  return text;
}

std::string figures(const Run& run, const Plan& plan, const Timeline& timeline) {
  Table table(3);
  table.row({"plan", "", "", plan.settings ? describe(*plan.settings) : "as the file says"});
  table.row({"step", readable(run.step)});
  table.row({"  computing", readable(run.compute), share_of(run.compute, run.step)});
  table.row({"  waiting", readable(run.stall()), share_of(run.stall(), run.step), stall_words(run)});
  table.row({"device peak", readable(run.peaks.device), "", sparkline(timeline.memory.device, run.step, 48)});
  if (run.peaks.device_reserved != run.peaks.device)
    table.row({"  reserved", readable(run.peaks.device_reserved), "", "by the caching allocator"});
  table.row(
      {"host peak", readable(run.peaks.host), "", "activations " + readable(run.peaks.host_activation)});
  table.row({"  pinned", readable(run.peaks.host_pinned)});
  if (run.peaks.pinned_on_device > Bytes{})
    table.row(
        {"  on the device", readable(run.peaks.pinned_on_device), "", "pinned memory counts there, too"});
  if (run.peaks.disk > Bytes{}) table.row({"disk peak", readable(run.peaks.disk)});
  return table.text();
}

class SimulateCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"simulate", "Predict a step: time, stalls and memory under a plan",
            "stowage simulate profile.json --machine machine.json --policy recompute --interval 2"};
  }

  void declare(CLI::App& app) override {
    app.add_option("PROFILE", profile_, "What the model costs")->required()->type_name("FILE");
    app.add_option("--machine", machine_, "What it runs on")->required()->type_name("FILE");
    app.add_option("-o,--output", timeline_, "Write the predicted timeline")->type_name("FILE");
    app.add_option("--chrome", chrome_, "Write the timeline as a Chrome trace, for Perfetto")
        ->type_name("FILE");
    app.add_option("--journal", journal_, "Write what was asked of the device's allocator")
        ->type_name("FILE");
    const auto take_load = [this](const std::string& text) { load_ = parse_load(text); };
    app.add_option_function<std::string>("--load", take_load, "How a checkpoint is read: whole, or by pieces")
        ->type_name("staged|streamed");
    memory_.declare(app);
    plan_.declare(app);
  }

  Answer run(Output& output) override {
    const Profile profile = read_profile(profile_);
    const Machine machine = memory_.apply(read_machine(machine_));
    const BlockTable table(profile);
    Expansion expansion = plan_.choose(profile, table);
    const auto predicted_for = [&](const Plan& plan) {
      return blaming(profile_, [&] { return predict(table, plan, machine); });
    };
    const Predicted predicted = predicted_for(expansion.plan);
    warn_if_larger(expansion, predicted, predicted_for(keeping_everything(table, expansion.plan)));
    const std::vector<RunPhase> phases = blaming(
        profile_, [&] { return simulate_phases(table, expansion.plan, machine, profile.phases, load_); });
    if (!timeline_.empty()) write_file(timeline_, to_json(predicted.timeline));
    if (!journal_.empty()) write_file(journal_, to_json(predicted.journal));
    if (!chrome_.empty()) write_file(chrome_, to_chrome_trace({predicted.timeline}));
    for (const std::string& warning : expansion.warnings) output.warn(warning);
    output.answer(sentence(predicted, machine));
    output.say("\n" + figures(predicted.outcome.run, expansion.plan, predicted.timeline));
    output.say("\n" + phases_text(phases));
    output.object(json_of(predicted, phases, expansion.warnings));
    return predicted.ran() ? Answer::done : Answer::no;
  }

 private:
  static Plan keeping_everything(const BlockTable& table, const Plan& plan) {
    Settings keep;
    keep.step.accumulate = plan.step.accumulate;
    return expand(table, keep).plan;
  }
  // A setting that was meant to save memory and takes more: alone, or with the wrong other one.
  static void warn_if_larger(Expansion& expansion, const Predicted& predicted, const Predicted& keeping) {
    const Bytes peak = predicted.outcome.run.peaks.device, kept = keeping.outcome.run.peaks.device;
    if (peak > kept)
      expansion.warnings.push_back("this plan takes " + readable(peak) +
                                   " on the device; keeping everything there takes " + readable(kept));
  }

  static std::string json_of(const Predicted& predicted, const std::vector<RunPhase>& phases,
                             const std::vector<std::string>& warnings) {
    JsonWriter json;
    json.begin_object();
    write_verdict(json, predicted);
    write_run(json, predicted.outcome.run);
    write_pool(json, predicted.pool);
    write_phases(json, phases);
    write_texts(json, "warnings", warnings);
    return json.end_object().text();
  }

  std::string profile_, machine_, timeline_, chrome_, journal_;
  LoadMode load_ = LoadMode::staged;
  MemoryFlags memory_;
  PlanFlags plan_;
};

}  // namespace

std::unique_ptr<Command> simulate_command() {
  return std::make_unique<SimulateCommand>();
}

}  // namespace stowage
