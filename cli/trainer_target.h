// tune --target: the best that a trainer can be told, in its own words.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "plan/block_table.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "tuner/dialects/dialect.h"
#include "tuner/tuner.h"

namespace CLI {
class App;
}

namespace stowage {

class TrainerTarget {
 public:
  // --target, --family, --config, --rewrite and --form.
  void declare(CLI::App& app);
  // Whether another than the native settings are asked for. Throws InputError where flags contradict.
  bool chosen() const;
  // Chooses, tells, and writes the plan to `plan_file` unless it is "".
  Answer run(const Profile& profile, const Machine& machine, const Budget& budget,
             const std::string& plan_file, Output& output) const;

 private:
  std::string words(const Options& options) const;

  std::string target_ = "native", family_, config_, rewritten_, form_ = "json";
};

}  // namespace stowage
