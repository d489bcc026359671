// stowage check: what a measured step says of its settings.
#include <CLI/CLI.hpp>
#include <array>

#include "cli/command.h"
#include "cli/forecast_subject.h"
#include "cli/free_tuning.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/setting_flags.h"
#include "forecast/verdict.h"
#include "plan/plan.h"
#include "simulator/evaluator.h"
#include "traces/error.h"
#include "traces/json.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

// In the order of StepVerdict.
constexpr std::array<const char*, 4> verdict_words{"as forecast", "no effect", "spilled", "contradicts"};

std::string sentence_of(StepVerdict verdict, const std::string& settings) {
  switch (verdict) {
    case StepVerdict::as_forecast:
      return "As forecast: " + settings + " took effect.";
    case StepVerdict::no_effect:
      return "Had no effect: " + settings + ".";
    case StepVerdict::spilled:
      return "Memory spilled to the host: the step is slow for no other reason.";
    case StepVerdict::contradicts:
      return "Not as forecast under " + settings + ".";
  }
  throw DefectError("a verdict outside its enumeration");
}

class CheckCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"check", "Whether settings took effect, and which figure of a step contradicts the forecast",
            "stowage check --family z-image --gpu h100 --policy recompute --measured 0.479s/12.87GiB"};
  }

  void declare(CLI::App& app) override {
    flags_.declare(app);
    settings_.declare(app);
  }

  Answer run(Output& output) override {
    const auto measured = flags_.measured("");
    if (!measured)
      throw InputError("--measured", "", "expected the step to check, as in --measured 0.479s/12.87GiB");
    flags_.load();
    const ForecastSubject subject = flags_.subject();
    const BlockTable table(subject.step.profile);
    Settings settings = settings_.settings();
    if (subject.family.segmenting && settings.segmenting == Segmenting::contiguous)
      settings.segmenting = *subject.family.segmenting;
    StepEvidence evidence{forecast_of(subject, table, settings),
                          {{"keeping everything", forecast_of(subject, table, {}), flags_.measured("none")}},
                          *measured,
                          subject.machine.device.usable()};
    Settings every_block;
    every_block.policy = Policy::recompute;
    if (settings.policy == Policy::recompute && !(settings == every_block))
      evidence.nulls.push_back(
          {"recomputing every block", forecast_of(subject, table, every_block), flags_.measured("layer")});
    const StepJudgement judgement = judge(evidence);
    output.answer(sentence_of(judgement.verdict, describe(settings)));
    for (const std::string& reason : judgement.reasons) output.say("  " + reason);
    JsonWriter json;
    json.begin_object().field("verdict", verdict_words[static_cast<std::size_t>(judgement.verdict)]);
    json.field("basis", subject.known).field("predicted_sec_per_step", evidence.expected.seconds.middle);
    json.field("predicted_peak_gib", evidence.expected.bytes.middle / bytes_per_gib);
    write_texts(json, "reasons", judgement.reasons);
    output.object(json.end_object().text());
    return judgement.verdict == StepVerdict::as_forecast ? Answer::done : Answer::no;
  }

 private:
  static RowForecast forecast_of(const ForecastSubject& subject, const BlockTable& table,
                                 const Settings& settings) {
    const auto run = Evaluator(subject.machine).evaluate(compile(table, expand(table, settings).plan));
    if (!run) throw InputError("", "", "these settings wait for themselves");
    Nanos step = run->step;
    if (settings.policy == Policy::recompute || settings.policy == Policy::recompute_offload)
      step += subject.step.switching;
    return row_forecast(subject.ends, {step, run->peaks.device});
  }

  ForecastFlags flags_;
  GivenSettings settings_;
};

}  // namespace

std::unique_ptr<Command> check_command() {
  return std::make_unique<CheckCommand>();
}

}  // namespace stowage
