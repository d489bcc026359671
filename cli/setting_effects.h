// What each setting by itself could do for a plan: all its other values, one after another.
#pragma once

#include <optional>
#include <vector>

#include "cli/setting_flags.h"
#include "plan/block_table.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/tuner.h"

namespace stowage {

struct Changed {
  Settings settings;
  Run run;
};

struct SettingEffect {
  const SettingFlag* setting;
  std::optional<Changed>
      fastest;  // of those that fit the budget, where faster than the plan, or it does not fit
  std::optional<Changed> smallest;  // on the device, where smaller than the plan
  bool matters = false;             // some value changes the step or the device peak
};

// Of settings that change what a step costs and not what it trains, for a plan made of `settings`. Cost: some
// simulations for each block.
std::vector<SettingEffect> setting_effects(const BlockTable& table, const Machine& machine,
                                           const Budget& budget, const Settings& settings);

// What follows the flag in words: "--interval 4"; "no --scope" where the change takes it away.
std::string changed_flag(const SettingFlag& setting, const Settings& settings);

}  // namespace stowage
