#include "cli/trainer_target.h"

#include <CLI/CLI.hpp>

#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/setting_flags.h"
#include "traces/error.h"
#include "traces/file.h"
#include "traces/json.h"
#include "tuner/choose.h"

namespace stowage {
namespace {

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

// Whom it is about: "SimpleTuner", and for which family.
std::string addressee(const Trainer& trainer, const std::string& family) {
  return std::string(trainer.title) + (family.empty() ? "" : " for " + family);
}

std::string sentence(const std::string& whom, const BlockTable& table, const Choice& choice,
                     const Budget& budget) {
  if (!choice.best)
    return "Nothing that can be told " + whom + " fits " + readable(budget.device) +
           " on the device. The least that would do is " + readable(choice.least.run.peaks.on_device()) +
           ": " + summary(table, choice.least.meaning.plan) + ".";
  const Chosen& best = *choice.best;
  return "The fastest that fits, of what can be told " + whom + ": a step takes " + readable(best.run.step) +
         " and at most " + readable(best.run.peaks.on_device()) + " on the device.";
}

void warn_of(const std::string& file, const Chosen& chosen, Output& output) {
  for (const std::string& warning : chosen.meaning.warnings) output.warn(file + ": " + warning);
  for (const std::string& reading : chosen.meaning.readings) output.warn(file + ": " + reading);
}

std::string recommendation(const BlockTable& table, const Chosen& best, const std::string& words) {
  const Plan& plan = best.meaning.plan;
  std::string text =
      "\n" + words + (words.ends_with("\n") ? "" : "\n") + "\n  which means: " + summary(table, plan) + "\n";
  if (plan.settings) text += "  as flags of simulate: " + flags_of(*plan.settings) + "\n";
  for (const std::string& warning : best.meaning.warnings) text += "  " + warning + "\n";
  for (const std::string& reading : best.meaning.readings) text += "  " + reading + "\n";
  return text;
}

void write_chosen(JsonWriter& json, const BlockTable& table, const Chosen& chosen) {
  write_run(json, chosen.run);
  json.field("settings", summary(table, chosen.meaning.plan));
  write_texts(json, "warnings", chosen.meaning.warnings);
  write_texts(json, "readings", chosen.meaning.readings);
}

std::string json_of(const BlockTable& table, const Choice& choice, const std::optional<Standing>& standing,
                    const std::string& words, const std::optional<std::string>& plan) {
  JsonWriter json;
  json.begin_object().field("outcome", choice.best ? "ran" : "out_of_memory");
  if (choice.best) {
    write_chosen(json, table, *choice.best);
    json.field("emitted", words).field("bound_ns", choice.best->run.step).field("gap", 0.0);
    json.field("optimal", true).key("plan").raw(*plan);
  }
  json.field("least_bytes", choice.least.run.peaks.on_device());
  if (standing) {
    json.key("configured").begin_object().field("fits", standing->fits);
    write_chosen(json, table, standing->chosen);
    json.end_object();
  }
  json.field("considered", choice.considered).field("evaluated", choice.evaluated);
  return json.end_object().text();
}

}  // namespace

void TrainerTarget::declare(CLI::App& app) {
  std::string names = "native";
  for (const Trainer& trainer : trainers()) names += "|" + std::string(trainer.name);
  app.add_option_function<std::string>(
         "--target",
         [this](const std::string& text) { trainer_ = text == "native" ? nullptr : &trainer_named(text); },
         "In whose words, and of what a trainer can be told")
      ->type_name(names);
  app.add_option("--family", family_, "The trainer's name for the model")->type_name("NAME");
  app.add_option("--config", config_, "A configuration of the trainer's: what it would do as it stands")
      ->type_name("FILE");
  app.add_option("--rewrite", rewritten_, "Write that configuration with its memory options changed")
      ->type_name("FILE");
  app.add_option("--form", form_, "How to print the trainer's options (its usual way)")
      ->type_name("json|toml|yaml|flags|env|python");
}

bool TrainerTarget::chosen() const {
  if (!trainer_)
    for (const auto& [flag, value] : {std::pair("--family", &family_),
                                      {"--config", &config_},
                                      {"--rewrite", &rewritten_},
                                      {"--form", &form_}})
      if (!value->empty()) throw InputError(flag, "", "expected with --target, which names a trainer");
  if (!rewritten_.empty() && config_.empty()) throw InputError("--rewrite", "", "expected with --config");
  return trainer_;
}

std::optional<TrainerTarget::Given> TrainerTarget::given() const {
  if (config_.empty()) return {};
  const ConfigFormat format = format_of(*trainer_, config_);
  return blaming(config_, [&] { return Given{format, config_text(format, read_file(config_))}; });
}

std::unique_ptr<Dialect> TrainerTarget::dialect(const std::optional<Given>& given,
                                                std::string& family) const {
  const TrainerFile& file = trainer_->file;
  const std::string word(trainer_->family_is);
  family = family_;
  if (word.empty() && !family.empty())
    throw InputError("--family", "",
                     "expected without: models are all alike to " + std::string(trainer_->title));
  if (family.empty() && given && file.family)
    family = blaming(config_, [&] { return file.family(*given->config, given->format); });
  if (family.empty() && !word.empty()) {
    std::string known;
    for (const std::string& name : trainer_->families()) known += (known.empty() ? "" : ", ") + name;
    throw InputError("--family", "",
                     std::string("expected") + (file.family ? ", or a --config that has " + word : "") +
                         "; one of " + known);
  }
  return blaming(family_.empty() ? config_ : "--family", [&] { return trainer_->dialect(family); });
}

std::string TrainerTarget::form() const {
  const std::vector<std::string> forms = forms_of(*trainer_);
  if (form_.empty()) return forms.front();
  std::string listed;
  for (const std::string& form : forms) {
    if (form == form_) return form;
    listed += (listed.empty() ? "" : " or ") + form;
  }
  throw InputError("--form", "", "expected " + listed + ", not \"" + form_ + "\"");
}

Answer TrainerTarget::run(const Profile& profile, const Machine& machine, const Budget& budget,
                          const std::string& plan_file, Output& output) const {
  const BlockTable table(profile);
  const std::string printed = form();
  const std::optional<Given> mine = given();
  std::string family;
  const std::unique_ptr<Dialect> words = dialect(mine, family);
  std::optional<Standing> standing;
  if (mine) {
    Chosen as_is = blaming(config_, [&] {
      return price(table, machine, *words, options_in(*trainer_, *mine->config, mine->format));
    });
    const bool does = fits(as_is.run.peaks, budget);
    standing = {std::move(as_is), does};
  }
  const Choice choice = blaming("--target", [&] { return choose(table, machine, budget, *words); });
  output.answer(sentence(addressee(*trainer_, family), table, choice, budget));
  if (standing) {
    output.say("\n" + config_ + ": " + verdict(*standing, budget));
    warn_of(config_, standing->chosen, output);
  }
  std::optional<std::string> plan;
  std::string text;
  if (choice.best) {
    text = emitted(*trainer_, printed, choice.best->options);
    plan = to_json(choice.best->meaning.plan, profile);
    output.say(recommendation(table, *choice.best, text));
    if (!plan_file.empty()) write_file(plan_file, *plan);
    if (!rewritten_.empty()) {
      blaming(config_, [&] {
        write_options(*trainer_, *mine->config, mine->format, choice.best->options);
        return 0;
      });
      write_file(rewritten_, mine->config->text());
    }
  }
  output.say("\n" + std::to_string(choice.considered) + " configurations considered, " +
             std::to_string(choice.evaluated) + " of them simulated.");
  output.object(json_of(table, choice, standing, text, plan));
  return choice.best ? Answer::done : Answer::no;
}

}  // namespace stowage
