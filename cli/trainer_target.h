// tune --target: the best that a trainer can be told, in its own words.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "plan/block_table.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "tuner/dialects/trainer.h"
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
  // A configuration of the user's.
  struct Given {
    ConfigFormat format;
    std::unique_ptr<ConfigText> config;
  };

  std::optional<Given> given() const;
  std::unique_ptr<Dialect> dialect(const std::optional<Given>& given, std::string& family) const;
  // For --form.
  std::string form() const;

  const Trainer* trainer_ = nullptr;
  std::string family_, config_, rewritten_, form_;
};

}  // namespace stowage
