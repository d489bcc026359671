// stowage tune: the fastest plan that fits a budget.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "cli/command.h"
#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/trainer_target.h"
#include "cli/tuning.h"
#include "traces/error.h"
#include "traces/file.h"

namespace stowage {
namespace {

class TuneCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"tune", "Find the fastest plan that fits, and what other budgets would get",
            "stowage tune profile.json --machine machine.json --vram 24GiB --margin 512MiB -o plan.json"};
  }

  void declare(CLI::App& app) override {
    app.add_option("PROFILE", profile_, "What the model costs")->required()->type_name("FILE");
    app.add_option("--machine", machine_, "What it runs on")->required()->type_name("FILE");
    app.add_option("-o,--output", plan_, "Write the plan")->type_name("FILE");
    memory_.declare(app);
    add_size(app, "--margin", margin_, "Device memory to leave unused");
    target_.declare(app);
    app.add_option("--plans", plans_,
                   "free: each block may do something else; settings: what flags express (free)")
        ->type_name("KIND")
        ->check(CLI::IsMember({"free", "settings"}));
    add_count(app, "--threads", threads_, 1, 1024, "Threads to search with (one a core)");
  }

  Answer run(Output& output) override {
    const Profile profile = read_profile(profile_);
    const Machine machine = memory_.apply(read_machine(machine_));
    if (target_.chosen())
      return target_.run(profile, machine, budget_with(machine, margin_.value_or(Bytes{})), plan_, output);
    const BlockTable table(profile);
    const Tuning tuning = tuned(table, machine);
    const std::optional<TunedPlan> settled = tuning.result.best;
    std::optional<FreeTuning> free;
    if (plans_ == "free") free = run_free_tuning(table, machine, tuning, static_cast<unsigned>(threads_));
    const std::optional<TunedPlan>& best = free ? free->best : settled;
    if (best && !plan_.empty()) write_file(plan_, to_json(best->plan, profile));
    output.answer(free ? sentence(table, tuning, *free) : sentence(tuning));
    output.say("\n" + comparison_text(tuning, best));
    if (settled) output.say("\n  as flags: " + flags_of(*settled->plan.settings));
    output.say("\n" + frontier_text(tuning.result) + "\n" +
               (free ? certainty(tuning, *free) : certainty(tuning)));
    output.object(json_of(tuning, free, best, profile));
    return best ? Answer::done : Answer::no;
  }

 private:
  // Figures too large to add up are the profile's fault.
  Tuning tuned(const BlockTable& table, const Machine& machine) const {
    return blaming(profile_, [&] {
      return run_tuning(table, machine, margin_.value_or(Bytes{}), static_cast<unsigned>(threads_));
    });
  }

  static std::string json_of(const Tuning& tuning, const std::optional<FreeTuning>& free,
                             const std::optional<TunedPlan>& best, const Profile& profile) {
    const TuneResult& result = tuning.result;
    JsonWriter json;
    json.begin_object().field("outcome", best ? "ran" : "out_of_memory");
    if (best) {
      write_run(json, best->run);
      json.key("plan").raw(to_json(best->plan, profile));
    }
    if (result.best) {
      json.field("settings", describe(*result.best->plan.settings));
      json.field("settings_step_ns", result.best->run.step);
      json.field("emitted", flags_of(*result.best->plan.settings));
    }
    if (best && free)
      json.field("bound_ns", *free->free.bound).field("gap", free->gap()).field("optimal", free->optimal());
    else if (best)
      json.field("bound_ns", result.bound).field("gap", result.gap()).field("optimal", result.optimal());
    if (!best)
      json.field("least_bytes",
                 tuning.held_back + (free ? free->least->run.peaks.on_device() : result.least_bytes()));
    json.field("settings_least_bytes", tuning.least_device());
    json.field("null_step_ns", result.null_run.step).field("null_peak_bytes", result.null_run.peaks.device);
    json.field("null_fits", result.null_fits);
    write_frontier(json, result.frontier);
    json.field("considered", result.considered);
    json.field("evaluated", result.evaluated + (free ? free->free.evaluated : 0));
    return json.field("elapsed_ns", tuning.elapsed + (free ? free->elapsed : Nanos{})).end_object().text();
  }

  static void write_frontier(JsonWriter& json, const std::vector<FrontierPoint>& frontier) {
    json.key("frontier").begin_array();
    for (const FrontierPoint& point : frontier)
      json.begin_row()
          .field("peak_bytes", point.run.peaks.device)
          .field("peak_reserved_bytes", point.run.peaks.device_reserved)
          .field("step_ns", point.run.step)
          .field("host_peak_bytes", point.run.peaks.host)
          .field("pinned_on_device_bytes", point.run.peaks.pinned_on_device)
          .field("settings", flags_of(point.settings))
          .end_object();
    json.end_array();
  }

  std::string profile_, machine_, plan_, plans_ = "free";
  TrainerTarget target_;
  MemoryFlags memory_;
  std::optional<Bytes> margin_;
  std::int64_t threads_ = std::max(1U, std::thread::hardware_concurrency());
};

}  // namespace

std::unique_ptr<Command> tune_command() {
  return std::make_unique<TuneCommand>();
}

}  // namespace stowage
