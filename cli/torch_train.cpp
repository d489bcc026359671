// stowage train: trains for real under a plan.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

#include "cli/command_titles.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/pool_figures.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/torch_measuring.h"
#include "cli/torch_self_check.h"
#include "cli/torch_shortage.h"
#include "cli/torch_training.h"
#include "cli/training_review.h"
#include "cli/tuning.h"
#include "traces/error.h"
#include "traces/file.h"

namespace stowage {
namespace {

std::string exact(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

std::string step_line(std::size_t number, const TrainedStep& step) {
  char text[160];
  std::snprintf(text, sizeof text, "step %4zu   loss %.6f   gradient %.4f   %s   %s", number, step.loss,
                step.gradient_norm, readable(step.step).c_str(), readable(step.device_peak).c_str());
  return text;
}

template <class Get>
void write_steps(JsonWriter& json, const char* key, const Training& training, Get get) {
  json.key(key).begin_array();
  for (const TrainedStep& step : training.steps) get(step);
  json.end_array();
}

class TrainCommand final : public Command {
 public:
  CommandTitle title() const override { return train_title; }

  void declare(CLI::App& app) override {
    subject_.declare(app, true);
    add_count(app, "--steps", steps_, 1, std::numeric_limits<std::int32_t>::max(), "How many (10)");
    app.add_option("-o,--output", timeline_, "Write the measured timeline of a median step")
        ->type_name("FILE");
    app.add_option("--record", recording_,
                   "Write a recording of the last three steps by PyTorch's profiler; it slows them")
        ->type_name("FILE");
    app.add_option("--profile", profile_, "The model's profile; without it, it is measured first")
        ->type_name("FILE");
    app.add_option("--machine", machine_, "The machine that the host device plays")->type_name("FILE");
    memory_.declare(app);
    app.add_flag("--autotune", autotune_,
                 "Train under the fastest plan that fits; after the first steps, under a better one if what "
                 "they took says so");
    app.add_flag("--keep-plan", keep_plan_, "With --autotune: do not change the plan while training");
    app.add_flag("--self-check", self_check_,
                 "Compare the first step's gradients with those of a step without a plan, and end if they "
                 "differ");
    add_size(app, "--margin", margin_, "Device memory that --autotune leaves unused (1% of it)");
    plan_.declare(app);
  }

  Answer run(Output& output) override {
    if (autotune_ && plan_.any())
      throw InputError("--autotune", "", "chooses the settings itself; leave out " + plan_.first());
    if (keep_plan_ && !autotune_) throw InputError("--keep-plan", "", "expected with --autotune");
    const Subject subject = subject_.read();
    Machine machine = memory_.apply(machine_for(machine_, subject.place));
    ChosenDevice device(subject.place, machine);
    if (machine_.empty() && subject.place == Place::cuda) machine = measure_links(machine, device);
    const Profile profile =
        profile_.empty() ? measured_profile(subject, device, output) : read_profile(profile_);
    const BlockTable table(profile);
    const std::optional<Plan> plan = choose(profile, table, machine, output);
    if (!plan) return Answer::no;
    return train_under({profile, machine}, *plan, subject, device, output);
  }

 private:
  static Profile measured_profile(const Subject& subject, ChosenDevice& device, Output& output) {
    Assembled assembled = measure_profile(subject, device, 9);
    for (const std::string& warning : assembled.warnings) output.warn(warning);
    return std::move(assembled.profile);
  }

  // Absent: nothing fits, and it has been said.
  std::optional<Plan> choose(const Profile& profile, const BlockTable& table, const Machine& machine,
                             Output& output) const {
    if (!autotune_) {
      Expansion expansion = plan_.choose(profile, table);
      for (const std::string& warning : expansion.warnings) output.warn(warning);
      return std::move(expansion.plan);
    }
    const Tuning tuning =
        run_tuning(table, machine, margin(machine), std::max(1U, std::thread::hardware_concurrency()));
    output.say(sentence(tuning) + "\n");
    if (tuning.result.best) return tuning.result.best->plan;
    output.object(infeasible_json(tuning));
    return std::nullopt;
  }

  // False: the gradients differ, and it has been said.
  static bool check_first_step(const Subject& subject, ChosenDevice& device, const Program& program,
                               Output& output) {
    const SelfCheck check = self_check(subject, device, program);
    if (check.difference.empty()) {
      output.say("Self-check: loss and " + std::to_string(check.gradients) +
                 " gradients of the first step equal those without a plan, bit for bit.");
      return true;
    }
    output.answer("Self-check failed: " + check.difference + ".");
    JsonWriter json;
    json.begin_object().field("outcome", "differs").field("difference", check.difference);
    output.object(json.end_object().text());
    return false;
  }

  Answer train_under(const Figures& figures, const Plan& first, const Subject& subject, ChosenDevice& device,
                     Output& output) const {
    const Machine& machine = figures.machine;
    TrainingReview review(figures, first, output);
    if (self_check_ && !check_first_step(subject, device, review.predicted().program, output))
      return Answer::no;
    if (autotune_ && !keep_plan_) review.allow_change(budget_with(machine, margin(machine)));
    TrainingOptions options;
    options.steps = steps_;
    options.budget = machine.device.usable();
    options.recording = recording_;
    std::size_t number = 0;
    options.on_step = [&](const TrainedStep& step) { output.say(step_line(++number, step)); };
    options.reconsider = [&](const std::vector<Timeline>& measured) { return review.next(measured); };
    Training training = train(subject, device, review.predicted().program, options);
    training.timeline.name = figures.profile.name;
    if (!timeline_.empty() && !training.steps.empty()) write_file(timeline_, to_json(training.timeline));
    output.say("");
    output.answer(sentence_of(training, review.predicted()));
    output.object(json_of(training, review));
    return training.shortage ? Answer::no : Answer::done;
  }

  Bytes margin(const Machine& machine) const {
    return margin_.value_or(Bytes{machine.device.usable().value / 100});
  }

  static std::string sentence_of(const Training& training, const Predicted& predicted) {
    if (training.shortage) return "Stopped: " + shortage_words(*training.shortage, predicted.program) + ".";
    const Run& run = predicted.outcome.run;
    return "A step took " + readable(training.median_step()) + " (predicted " + readable(run.step) +
           ") and at most " + readable(training.device_peak()) + " on the device (predicted " +
           readable(run.peaks.device) + ").";
  }

  static std::string json_of(const Training& training, const TrainingReview& review) {
    const Predicted& predicted = review.predicted();
    JsonWriter json;
    json.begin_object();
    write_training_outcome(json, training, predicted.program);
    if (review.plan().settings) json.field("settings", describe(*review.plan().settings));
    write_steps(json, "losses", training, [&](const TrainedStep& s) { json.raw(exact(s.loss)); });
    write_steps(json, "gradient_norms", training,
                [&](const TrainedStep& s) { json.raw(exact(s.gradient_norm)); });
    write_steps(json, "step_ns", training, [&](const TrainedStep& s) { json.value(s.step); });
    write_steps(json, "peak_bytes", training, [&](const TrainedStep& s) { json.value(s.device_peak); });
    write_steps(json, "host_peak_bytes", training, [&](const TrainedStep& s) { json.value(s.host_peak); });
    json.field("median_step_ns", training.median_step());
    write_pool(json, training.pool);
    review.write(json);
    json.key("predicted").begin_object();
    write_verdict(json, predicted);
    write_run(json, predicted.outcome.run);
    return json.end_object().end_object().text();
  }

  SubjectFlags subject_;
  std::string timeline_, recording_, profile_, machine_;
  std::int64_t steps_ = 10;
  MemoryFlags memory_;
  bool autotune_ = false, keep_plan_ = false, self_check_ = false;
  std::optional<Bytes> margin_;
  PlanFlags plan_;
};

}  // namespace

std::unique_ptr<Command> train_command() {
  return std::make_unique<TrainCommand>();
}

}  // namespace stowage
