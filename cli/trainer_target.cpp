#include "cli/trainer_target.h"

#include <CLI/CLI.hpp>

#include "cli/inputs.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/setting_flags.h"
#include "traces/error.h"
#include "traces/file.h"
#include "traces/json.h"
#include "tuner/choose.h"
#include "tuner/dialects/simpletuner.h"
#include "tuner/dialects/simpletuner_text.h"

namespace stowage {
namespace {

void check_choice(const std::string& flag, const std::string& text,
                  std::initializer_list<const char*> choices) {
  std::string listed;
  for (const char* choice : choices) {
    if (text == choice) return;
    listed += (listed.empty() ? "" : " or ") + std::string(choice);
  }
  throw InputError(flag, "", "expected " + listed + ", not \"" + text + "\"");
}

// What a configuration that somebody has would do.
struct Standing {
  Chosen chosen;
  bool fits;
};

std::string verdict(const Standing& standing, const Budget& budget) {
  const Run& run = standing.chosen.run;
  return "As it stands it takes " + readable(run.step) + " a step and " + readable(run.peaks.on_device()) +
         " on the device: " +
         (standing.fits ? "it fits" : "it does not fit the " + readable(budget.device) + " there are") + ".";
}

std::string sentence(const std::string& family, const Choice& choice, const Budget& budget) {
  if (!choice.best)
    return "Nothing that SimpleTuner can be told for " + family + " fits " + readable(budget.device) +
           " on the device. The least that would do is " + readable(choice.least.run.peaks.on_device()) +
           ": " + describe(choice.least.meaning.settings) + ".";
  const Chosen& best = *choice.best;
  return "The fastest that fits, of what SimpleTuner can be told for " + family + ": a step takes " +
         readable(best.run.step) + " and at most " + readable(best.run.peaks.on_device()) + " on the device.";
}

void write_chosen(JsonWriter& json, const Chosen& chosen) {
  write_run(json, chosen.run);
  json.field("settings", describe(chosen.meaning.settings));
  write_texts(json, "warnings", chosen.meaning.warnings);
}

std::string json_of(const Choice& choice, const std::optional<Standing>& standing, const std::string& words,
                    const std::optional<std::string>& plan) {
  JsonWriter json;
  json.begin_object().field("outcome", choice.best ? "ran" : "out_of_memory");
  if (choice.best) {
    write_chosen(json, *choice.best);
    json.field("emitted", words).field("bound_ns", choice.best->run.step).field("gap", 0.0);
    json.field("optimal", true).key("plan").raw(*plan);
  }
  json.field("least_bytes", choice.least.run.peaks.on_device());
  if (standing) {
    json.key("configured").begin_object().field("fits", standing->fits);
    write_chosen(json, standing->chosen);
    json.end_object();
  }
  json.field("considered", choice.considered).field("evaluated", choice.evaluated);
  return json.end_object().text();
}

}  // namespace

void TrainerTarget::declare(CLI::App& app) {
  app.add_option_function<std::string>(
         "--target",
         [this](const std::string& text) {
           check_choice("--target", target_ = text, {"native", "simpletuner"});
         },
         "In whose words, and of what a trainer can be told")
      ->type_name("native|simpletuner");
  app.add_option("--family", family_, "The trainer's name for the model (model_family)")->type_name("NAME");
  app.add_option("--config", config_, "A configuration of the trainer's: what it would do as it stands")
      ->type_name("FILE");
  app.add_option("--rewrite", rewritten_, "Write that configuration with its memory options changed")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--form",
         [this](const std::string& text) {
           check_choice("--form", form_ = text, {"json", "flags", "env"});
         },
         "How to print the trainer's options (json)")
      ->type_name("json|flags|env");
}

bool TrainerTarget::chosen() const {
  const bool chosen = target_ != "native";
  if (!chosen)
    for (const auto& [flag, value] :
         {std::pair("--family", &family_), {"--config", &config_}, {"--rewrite", &rewritten_}})
      if (!value->empty()) throw InputError(flag, "", "expected with --target simpletuner");
  if (!rewritten_.empty() && config_.empty()) throw InputError("--rewrite", "", "expected with --config");
  return chosen;
}

Answer TrainerTarget::run(const Profile& profile, const Machine& machine, const Budget& budget,
                          const std::string& plan_file, Output& output) const {
  const BlockTable table(profile);
  const std::string config = config_.empty() ? "" : read_file(config_);
  const auto of_config = [&](const auto& work) { return blaming(config_, work); };
  std::string family = family_;
  if (family.empty() && !config.empty()) family = of_config([&] { return simpletuner_family_of(config); });
  if (family.empty()) throw InputError("--family", "", "expected, or a --config that has model_family");
  const SimpleTuner dialect =
      blaming(family_.empty() ? config_ : "--family", [&] { return SimpleTuner(family); });
  std::optional<Standing> standing;
  if (!config.empty()) {
    Chosen as_is = of_config([&] { return price(table, machine, dialect, simpletuner_options(config)); });
    const bool does = fits(as_is.run.peaks, budget);
    standing = {std::move(as_is), does};
  }
  const Choice choice = choose(table, machine, budget, dialect);
  output.answer(sentence(family, choice, budget));
  if (standing) {
    output.say("\n" + config_ + ": " + verdict(*standing, budget));
    for (const std::string& warning : standing->chosen.meaning.warnings)
      output.warn(config_ + ": " + warning);
  }
  std::optional<std::string> plan;
  std::string text;
  if (choice.best) {
    text = words(choice.best->options);
    plan = to_json(expand(table, choice.best->meaning.settings).plan, profile);
    output.say("\n" + text);
    output.say("\n  which means: " + describe(choice.best->meaning.settings) +
               "\n  as flags of simulate: " + flags_of(choice.best->meaning.settings));
    for (const std::string& warning : choice.best->meaning.warnings) output.say("  " + warning);
    if (!plan_file.empty()) write_file(plan_file, *plan);
    if (!rewritten_.empty()) write_file(rewritten_, simpletuner_rewritten(config, choice.best->options));
  }
  output.say("\n" + std::to_string(choice.considered) + " configurations considered, " +
             std::to_string(choice.evaluated) + " of them simulated.");
  output.object(json_of(choice, standing, text, plan));
  return choice.best ? Answer::done : Answer::no;
}

std::string TrainerTarget::words(const Options& options) const {
  if (form_ == "flags") return simpletuner_flags(options);
  if (form_ == "env") return simpletuner_env(options);
  return simpletuner_json(options);
}

}  // namespace stowage
