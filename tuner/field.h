// All that a search chooses from, made once and shared by its threads.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "plan/settings.h"
#include "traces/machine.h"
#include "tuner/copy_costs.h"
#include "tuner/frontier.h"
#include "tuner/outlook.h"
#include "tuner/settings_space.h"
#include "tuner/swap_choice.h"

namespace stowage {

struct Field {
  Field(const BlockTable& table, const Machine& machine, const SettingsSpace& space);

  Settings settings_of(const Candidate& candidate) const;

  const BlockTable& table;
  const Machine& machine;
  CopyCosts costs;
  std::vector<Settings> shapes;
  std::vector<SwapChoice> swaps;
  bool whole;  // of intervals, strides and swap counts none is left out
  std::uint32_t max_prefetch;
  bool several_h2d_streams, several_d2h_streams;  // whether they may make a difference
  ForwardTimes forward;
};

}  // namespace stowage
