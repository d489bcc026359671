// stowage tune: the fastest plan that fits a budget.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "cli/command.h"
#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/trainer_target.h"
#include "cli/tuning.h"
#include "cli/tuning_json.h"
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
    const Interrupt interrupt;
    Tuning tuning = tuned(table, machine);
    const std::optional<TunedPlan> settled = tuning.result.best;
    std::optional<FreeTuning> free;
    if (plans_ == "free") free = run_free_tuning(table, machine, tuning, static_cast<unsigned>(threads_));
    tuning.interrupted = Interrupt::requested();
    if (tuning.interrupted) output.warn("interrupted: this is the best so far");
    const std::optional<TunedPlan>& best = free ? free->best : settled;
    if (best && !plan_.empty()) write_file(plan_, to_json(best->plan, profile));
    output.answer(free ? sentence(table, tuning, *free) : sentence(tuning));
    output.say("\n" + comparison_text(tuning, best));
    if (settled) output.say("\n  as flags: " + flags_of(*settled->plan.settings));
    output.say("\n" + frontier_text(tuning.result) + "\n" +
               (free ? certainty(tuning, *free) : certainty(tuning)));
    output.object(tuning_json(tuning, free, profile));
    return best ? Answer::done : Answer::no;
  }

 private:
  // Figures too large to add up are the profile's fault.
  Tuning tuned(const BlockTable& table, const Machine& machine) const {
    return blaming(profile_, [&] {
      return run_tuning(table, machine, margin_.value_or(Bytes{}), static_cast<unsigned>(threads_));
    });
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
