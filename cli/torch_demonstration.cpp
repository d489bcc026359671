#include "cli/torch_demonstration.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "cli/quantity.h"
#include "cli/report_draft.h"
#include "cli/report_page.h"
#include "cli/table.h"
#include "cli/torch_measuring.h"
#include "cli/torch_shortage.h"
#include "cli/tuning.h"
#include "traces/error.h"
#include "traces/export/chrome.h"
#include "traces/file.h"

namespace stowage {
namespace {

constexpr double noticeable_drift = 0.1;

Settings recompute_every_block() {
  Settings settings;
  settings.policy = Policy::recompute;
  return settings;
}

std::vector<double> losses_of(const Training& training) {
  std::vector<double> losses;
  for (const TrainedStep& step : training.steps) losses.push_back(step.loss);
  return losses;
}

std::string last_loss(const Training& training) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9f", training.steps.back().loss);
  return text;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw SystemError(folder, "cannot make this folder: " + error.message());
}

}  // namespace

Demonstration::Demonstration(Subject subject, DemonstrationOptions options, Output& output)
    : subject_(std::move(subject)),
      options_(std::move(options)),
      output_(output),
      machine_(machine_at(subject_.place)),
      device_(subject_.place, machine_) {}

bool Demonstration::run() {
  make_folder(options_.folder);
  measure();
  machine_.device.memory = options_.vram.value_or(chosen_budget());
  write_file(path("machine.json"), to_json(machine_));
  const Tuning tuning = tune();
  if (!tuning.result.best) {
    output_.object(infeasible_json(tuning));
    return false;
  }
  const Bytes budget = machine_.device.usable();
  std::vector<Trial> trials;
  trials.push_back(attempt("keep everything", plan_of({}), budget));
  trials.push_back(attempt("recompute every block", plan_of(recompute_every_block()), budget));
  trials.push_back(attempt("tuned", tuning.result.best->plan, budget));
  const Trial plain = attempt("no budget", plan_of({}), std::nullopt);
  bool same = true;
  for (const Trial& trial : trials)
    same = same && (trial.training.shortage || losses_of(trial.training) == losses_of(plain.training));
  write_files(trials.back(), tuning);
  tell(trials, same);
  tell_drift(plain);
  tell_next();
  output_.object(json_of(trials, same));
  return same && !trials.back().training.shortage;
}

void Demonstration::measure() {
  Assembled assembled = measure_profile(subject_, device_, options_.repeats);
  for (const std::string& warning : assembled.warnings) output_.warn(warning);
  profile_ = std::move(assembled.profile);
  table_.emplace(profile_);
  machine_ = measure_links(machine_, device_);
  write_file(path("profile.json"), to_json(profile_));
  output_.say("Measured " + profile_.name + " on this machine: " + std::to_string(table_->size()) +
              " blocks, " + readable(predict(*table_, plan_of({}), machine_).outcome.run.step) + " a step.");
}

// Halfway between what recomputing every block and what keeping everything needs.
Bytes Demonstration::chosen_budget() const {
  const Bytes most = predict(*table_, plan_of({}), machine_).outcome.run.peaks.device;
  const Bytes least = predict(*table_, plan_of(recompute_every_block()), machine_).outcome.run.peaks.device;
  return {(least.value + most.value) / 2};
}

Tuning Demonstration::tune() const {
  const Bytes margin{machine_.device.usable().value / 100};
  Tuning tuning = run_tuning(*table_, machine_, margin, std::max(1U, std::thread::hardware_concurrency()));
  output_.say("Budget: " + readable(machine_.device.usable()) +
              " on the device, of which a hundredth is spare.\n\n" + sentence(tuning));
  if (!tuning.result.best) return tuning;
  output_.say(certainty(tuning));
  write_file(path("plan.json"), to_json(tuning.result.best->plan, profile_));
  return tuning;
}

Demonstration::Trial Demonstration::attempt(const std::string& name, const Plan& plan,
                                            std::optional<Bytes> budget) {
  Trial trial{name, plan, predict(*table_, plan, machine_), {}};
  ProgressLine line;
  line.show("training: " + name);
  TrainingOptions options;
  options.steps = options_.steps;
  options.budget = budget;
  std::int64_t done = 0;
  options.on_step = [&](const TrainedStep&) {
    line.show("training: " + name, ++done, options_.steps, "steps");
  };
  trial.training = train(subject_, device_, trial.predicted.program, options);
  trial.training.timeline.name = profile_.name;
  return trial;
}

Plan Demonstration::plan_of(const Settings& settings) const {
  return expand(*table_, settings).plan;
}

void Demonstration::write_files(const Trial& tuned, const Tuning& tuning) const {
  const Timeline &predicted = tuned.predicted.timeline, &measured = tuned.training.timeline;
  write_file(path("predicted.json"), to_json(predicted));
  ReportDraft draft;
  draft.model(profile_, machine_, tuning.result);
  draft.plan(*table_, tuned.plan, tuned.predicted);
  draft.add(predicted);
  if (!tuned.training.steps.empty()) {
    draft.add(measured);
    write_file(path("measured.json"), to_json(measured));
    write_file(path("trace.json"), to_chrome_trace({predicted, measured}));
  }
  write_file(path("report.html"), report_page(std::move(draft).finish()));
}

void Demonstration::tell(const std::vector<Trial>& trials, bool same_losses) {
  Table table;
  table.row({"", "step", "", "device peak", "", "host peak", "", "loss after"});
  table.row({"", "predicted", "measured", "predicted", "measured", "predicted", "measured",
             std::to_string(options_.steps) + " steps"});
  for (const Trial& trial : trials) {
    const Run& run = trial.predicted.outcome.run;
    const Training& training = trial.training;
    if (training.shortage)
      table.row({trial.name, readable(run.step), "-", readable(run.peaks.device), "-",
                 readable(run.peaks.host), "-", "out of memory"});
    else
      table.row({trial.name, readable(run.step), readable(training.median_step()), readable(run.peaks.device),
                 readable(training.device_peak()), readable(run.peaks.host), readable(training.host_peak()),
                 last_loss(training)});
  }
  output_.say("\n" + table.text());
  for (const Trial& trial : trials)
    if (trial.training.shortage)
      output_.say("  " + trial.name + ": " +
                  shortage_words(*trial.training.shortage, trial.predicted.program) + ".");
  output_.say(same_losses ? "  Every loss of every step equals that of training with no budget, bit for bit."
                          : "  The losses differ from those of training with no budget: a defect.");
}

// Training without a budget is the very program that was measured: where it takes another time, the machine
// has changed.
void Demonstration::tell_drift(const Trial& plain) {
  const double measured = static_cast<double>(plain.predicted.outcome.run.step.value);
  const double trained = static_cast<double>(plain.training.median_step().value);
  const double drift = trained / measured - 1;
  if (std::abs(drift) < noticeable_drift) return;
  output_.say("  While it trained, this machine was " + std::string(drift > 0 ? "slower" : "faster") +
              " than while it was measured: the same step took " + readable(plain.training.median_step()) +
              " instead of " + readable(plain.predicted.outcome.run.step) +
              "; predicted times are off by as much.");
}

void Demonstration::tell_next() {
  const std::string folder = options_.folder;
  output_.say("\nWhat to try next:\n  open " + folder + "/report.html in a browser\n  stowage compare " +
              folder + "/predicted.json " + folder + "/measured.json\n  stowage tune " + folder +
              "/profile.json --machine " + folder + "/machine.json --vram " +
              std::to_string(machine_.device.memory.value * 4 / 5) +
              "\n  stowage train --data YOUR_TEXT --vram " + std::to_string(machine_.device.memory.value) +
              " --autotune\n  open " + folder + "/trace.json in https://ui.perfetto.dev");
}

std::string Demonstration::json_of(const std::vector<Trial>& trials, bool same_losses) const {
  JsonWriter json;
  json.begin_object().field("budget_bytes", machine_.device.usable()).field("folder", options_.folder);
  json.field("same_losses", same_losses).key("rows").begin_array();
  for (const Trial& trial : trials) {
    json.begin_object().field("name", trial.name).field("settings", describe(*trial.plan.settings));
    json.key("predicted").begin_object();
    write_verdict(json, trial.predicted);
    write_run(json, trial.predicted.outcome.run);
    json.end_object().key("measured").begin_object();
    write_training_outcome(json, trial.training, trial.predicted.program);
    json.field("step_ns", trial.training.median_step())
        .field("peak_bytes", trial.training.device_peak())
        .field("host_peak_bytes", trial.training.host_peak())
        .key("losses")
        .begin_array();
    for (double loss : losses_of(trial.training)) json.value(loss);
    json.end_array().end_object().end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace stowage
