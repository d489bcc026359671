// stowage explain: why a plan costs what it costs, and what would change that.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <thread>

#include "cli/command.h"
#include "cli/explanation.h"
#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/quantity.h"
#include "cli/setting_effects.h"
#include "cli/table.h"
#include "cli/tuning.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

constexpr Bytes one_gib{std::int64_t{1} << 30};
constexpr Bytes no_limit{std::numeric_limits<std::int64_t>::max() / 4};

// What other budgets get, of settings.
struct Neighbours {
  const FrontierPoint* richer = nullptr;   // with a GiB more, where faster than the fastest that fit
  const FrontierPoint* smaller = nullptr;  // the fastest that takes less than the plan
};

struct Explained {
  Plan plan;
  Run run;
  bool fits;
  PeakMoment peak;
  std::vector<Wait> waits;
  std::vector<SettingEffect> effects;  // of plans with settings
  Neighbours neighbours;
};

Bytes on_device(const FrontierPoint& point) {
  return point.run.peaks.on_device();
}

// The frontier rises in peak and falls in step.
Neighbours neighbours_of(const TuneResult& result, const Run& run, Bytes budget) {
  Neighbours found;
  for (const FrontierPoint& point : result.frontier) {
    if (on_device(point) <= budget + one_gib && (!result.best || point.run.step < result.best->run.step))
      found.richer = &point;
    if (on_device(point) < run.peaks.on_device()) found.smaller = &point;
  }
  return found;
}

std::string longer_than(const Run& run, const Run& best) {
  if (best.step == Nanos{}) return "";
  return percent(static_cast<double>(run.step.value) / static_cast<double>(best.step.value) - 1);
}

std::string block_name(const Profile& profile, std::uint32_t block) {
  return "block " + std::to_string(block) + " (" + profile.expanded()[block].name + ")";
}

std::string verdict(const Explained& it, const Tuning& tuning, const std::string& words) {
  std::string text = words + ": a step takes " + readable(it.run.step) + " and " +
                     readable(it.run.peaks.on_device()) + " on the device, which " +
                     (it.fits ? "fits " : "does not fit ") + readable(tuning.budget.device) + ".";
  const std::optional<TunedPlan>& best = tuning.result.best;
  if (!best) return text + " No settings fit.";
  if (it.plan.settings == best->plan.settings && it.plan.settings)
    return text + " No settings that fit are faster.";
  const std::string other = describe(*best->plan.settings);
  if (it.fits && it.run.step > best->run.step)
    return text + " The fastest settings that fit, " + other + ", take " + readable(best->run.step) +
           ": this takes " + longer_than(it.run, best->run) + " longer.";
  if (!it.fits)
    return text + " The fastest settings that fit, " + other + ", take " + readable(best->run.step) + ".";
  return text + " No settings that fit are faster.";
}

std::string peak_text(const PeakMoment& peak) {
  std::string text = "Most is on the device";
  if (!peak.step.empty()) text += " during " + peak.step;
  Table table;
  for (const PeakMoment::Part& part : peak.parts)
    table.row({"  " + std::string(words_of(part.kind)), readable(part.bytes),
               percent(static_cast<double>(part.bytes.value) / static_cast<double>(peak.bytes.value))});
  return text + ", " + readable(peak.bytes) + (peak.parts.empty() ? ".\n" : ":\n") + table.text();
}

std::string waiting_text(const Explained& it, const Profile& profile) {
  if (it.waits.empty()) return "Compute never waits: only less recomputation would make the step shorter.\n";
  Table table(2);
  for (const Wait& wait : it.waits)
    table.row(
        {"  " + std::string(words_of(wait.cause)), readable(wait.time),
         wait.block ? "longest " + readable(wait.longest) + ", at " + block_name(profile, *wait.block) : ""});
  return "Compute waits for " + readable(it.run.stall()) + " of " + readable(it.run.step) + ":\n" +
         table.text();
}

void effect_row(Table& table, const char* what, const SettingEffect& effect, const Changed& other,
                const Run& now) {
  const Bytes peak = other.run.peaks.on_device(), before = now.peaks.on_device();
  table.row({"  " + changed_flag(*effect.setting, other.settings), readable(other.run.step),
             change(static_cast<double>(other.run.step.value) / static_cast<double>(now.step.value) - 1),
             readable(peak), change(static_cast<double>(peak.value) / static_cast<double>(before.value) - 1),
             what});
}

std::string effects_text(const Explained& it) {
  Table table(5);
  table.row({"one setting changed", "step", "", "device peak", "", ""});
  std::string idle, no_help;
  bool any = false;
  const auto list = [](std::string& names, const SettingEffect& effect) {
    names += (names.empty() ? "" : ", ") + std::string(effect.setting->flag);
  };
  for (const SettingEffect& effect : it.effects) {
    if (effect.fastest)
      effect_row(table, it.fits ? "faster, and fits" : "fits", effect, *effect.fastest, it.run);
    if (effect.smallest && (!effect.fastest || effect.smallest->settings != effect.fastest->settings))
      effect_row(table, "smallest", effect, *effect.smallest, it.run);
    any |= effect.fastest || effect.smallest;
    if (!effect.matters)
      list(idle, effect);
    else if (!effect.fastest)
      list(no_help, effect);
  }
  std::string text = any ? table.text() : "";
  if (!no_help.empty())
    text += "No value of these by itself " +
            std::string(it.fits ? "makes it faster within the budget: " : "makes it fit: ") + no_help + ".\n";
  if (!idle.empty()) text += "These change nothing here: " + idle + ".\n";
  return text;
}

std::string neighbours_text(const Explained& it) {
  const auto told = [](const FrontierPoint& point) {
    return readable(point.run.step) + " and " + readable(on_device(point)) + " (" + describe(point.settings) +
           ")";
  };
  std::string text;
  const Neighbours& near = it.neighbours;
  text += near.richer ? "With 1 GiB more than the budget, settings could reach " + told(*near.richer) + ".\n"
                      : "With 1 GiB more than the budget no settings would be faster.\n";
  text += near.smaller ? "The next smaller settings take " + told(*near.smaller) + ".\n"
                       : "No settings take less memory.\n";
  return text;
}

class ExplainCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {
        "explain", "Say why a plan costs what it costs, and what each setting could change",
        "stowage explain profile.json --machine machine.json --vram 24GiB --policy recompute --interval 4"};
  }

  void declare(CLI::App& app) override {
    app.add_option("PROFILE", profile_, "What the model costs")->required()->type_name("FILE");
    app.add_option("--machine", machine_, "What it runs on")->required()->type_name("FILE");
    memory_.declare(app);
    add_size(app, "--margin", margin_, "Device memory to leave unused");
    plan_.declare(app);
    add_count(app, "--threads", threads_, 1, 1024, "Threads to search with (one a core)");
  }

  Answer run(Output& output) override {
    const Profile profile = read_profile(profile_);
    const Machine machine = memory_.apply(read_machine(machine_));
    const BlockTable table(profile);
    const Tuning tuning = blaming(profile_, [&] {
      return run_tuning(table, machine, margin_.value_or(Bytes{}), static_cast<unsigned>(threads_));
    });
    const Explained it = explained(profile, table, machine, tuning, output);
    output.answer(verdict(it, tuning, sentence_case(summary(table, it.plan))));
    output.say("\n" + peak_text(it.peak) + "\n" + waiting_text(it, profile));
    if (it.plan.settings) output.say("\n" + effects_text(it));
    output.say("\n" + neighbours_text(it));
    output.object(json_of(it));
    return it.fits ? Answer::done : Answer::no;
  }

 private:
  // The plan that was asked about, or else the best settings. As if memory had no end, so that the step is
  // told whole.
  Explained explained(const Profile& profile, const BlockTable& table, Machine machine, const Tuning& tuning,
                      Output& output) const {
    Expansion chosen;
    if (plan_.any())
      chosen = plan_.choose(profile, table);
    else
      chosen.plan = tuning.result.best.value_or(tuning.result.least).plan;
    for (const std::string& warning : chosen.warnings) output.warn(warning);
    Explained it;
    it.plan = chosen.plan;
    if (it.plan.settings)
      it.effects = blaming(profile_,
                           [&] { return setting_effects(table, machine, tuning.budget, *it.plan.settings); });
    machine.device.memory = machine.host.memory = no_limit;
    const Predicted predicted = blaming(profile_, [&] { return predict(table, it.plan, machine); });
    it.run = predicted.outcome.run;
    it.fits = fits(it.run.peaks, tuning.budget);
    it.peak = peak_moment(predicted);
    it.waits = waiting(predicted.timeline);
    it.neighbours = neighbours_of(tuning.result, it.run, tuning.budget.device);
    return it;
  }

  static std::string sentence_case(std::string words) {
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    return words;
  }

  static std::string json_of(const Explained& it) {
    JsonWriter json;
    json.begin_object().field("fits", it.fits);
    write_run(json, it.run);
    json.key("peak").begin_object().field("step", it.peak.step).field("bytes", it.peak.bytes);
    json.key("kinds").begin_array();
    for (const PeakMoment::Part& part : it.peak.parts)
      json.begin_row().field("kind", words_of(part.kind)).field("bytes", part.bytes).end_object();
    json.end_array().end_object();
    json.key("waiting").begin_array();
    for (const Wait& wait : it.waits) {
      json.begin_row()
          .field("cause", name_of(wait.cause))
          .field("ns", wait.time)
          .field("longest_ns", wait.longest);
      if (wait.block) json.field("block", *wait.block);
      json.end_object();
    }
    json.end_array();
    write_effects(json, it.effects);
    const auto write_point = [&](const char* key, const FrontierPoint* point) {
      if (!point) return;
      json.key(key).begin_object().field("settings", flags_of(point->settings));
      json.field("step_ns", point->run.step).field("peak_bytes", on_device(*point)).end_object();
    };
    write_point("with_one_gib_more", it.neighbours.richer);
    write_point("next_smaller", it.neighbours.smaller);
    return json.end_object().text();
  }

  static void write_effects(JsonWriter& json, const std::vector<SettingEffect>& effects) {
    json.key("settings").begin_array();
    for (const SettingEffect& effect : effects) {
      json.begin_object().field("setting", effect.setting->key).field("matters", effect.matters);
      const auto write_other = [&](const char* key, const std::optional<Changed>& other) {
        if (!other) return;
        json.key(key).begin_row().field("settings", flags_of(other->settings));
        json.field("step_ns", other->run.step).field("peak_bytes", other->run.peaks.on_device()).end_object();
      };
      write_other("fastest", effect.fastest);
      write_other("smallest", effect.smallest);
      json.end_object();
    }
    json.end_array();
  }

  std::string profile_, machine_;
  MemoryFlags memory_;
  std::optional<Bytes> margin_;
  PlanFlags plan_;
  std::int64_t threads_ = std::max(1U, std::thread::hardware_concurrency());
};

}  // namespace

std::unique_ptr<Command> explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace stowage
