// Measures a model, tunes it to a budget that keeping everything does not fit, trains it under three plans,
// and compares what happened with what was predicted. Leaves its files in a folder:
//
//   profile.json  machine.json  plan.json  predicted.json  measured.json  trace.json (for Perfetto)
//   report.html
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/torch_device.h"
#include "cli/torch_subject.h"
#include "cli/torch_training.h"
#include "cli/tuning.h"
#include "plan/block_table.h"

namespace stowage {

struct DemonstrationOptions {
  std::string folder = "stowage-demo";
  std::int64_t steps = 8;
  std::int64_t repeats = 9;
  std::optional<Bytes> vram;
};

class Demonstration {
 public:
  Demonstration(Subject subject, DemonstrationOptions options, Output& output);

  // Whether the tuned plan ran within the budget, with the losses of training without one.
  bool run();

 private:
  // A plan, predicted and carried out.
  struct Trial {
    std::string name;
    Plan plan;
    Predicted predicted;
    Training training;
  };

  void measure();
  Tuning tune() const;
  Trial attempt(const std::string& name, const Plan& plan, std::optional<Bytes> budget);
  Plan plan_of(const Settings& settings) const;
  Bytes chosen_budget() const;
  std::string path(const char* name) const { return options_.folder + "/" + name; }
  void write_files(const Trial& tuned, const Tuning& tuning) const;
  void tell(const std::vector<Trial>& trials, bool same_losses);
  void tell_drift(const Trial& plain);
  void tell_next();
  std::string json_of(const std::vector<Trial>& trials, bool same_losses) const;

  const Subject subject_;
  const DemonstrationOptions options_;
  Output& output_;
  Machine machine_;  // first with all memory there is, then with the budget
  ChosenDevice device_;
  Profile profile_;
  std::optional<BlockTable> table_;
};

}  // namespace stowage
