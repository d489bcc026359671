// The search as one would do it without thinking: every settings of the space, spelled every way, priced one
// by one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/settings.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/settings_space.h"
#include "tuner/tuner.h"

namespace stowage::tests {

// Intervals and strides beyond the chain, strides that say nothing, scopes that nothing has, swaps of more
// blocks than there are, more prefetch than there is to fetch: nothing is left out because it is the same.
void for_every_setting(const BlockTable& table, const SettingsSpace& space,
                       const std::function<void(const Settings&)>& visit);

struct Price {
  Bytes peak;
  Nanos step;
  Bytes host, pinned;

  auto operator<=>(const Price&) const = default;
};

// Of all settings; equal ones once, ascending.
std::vector<Price> price_every_setting(const BlockTable& table, const Machine& machine,
                                       const SettingsSpace& space);

// Those within the host and pinned budgets that no other is as good as in peak and step; the least of the
// host where several are equal.
std::vector<Price> frontier_of(const std::vector<Price>& prices, const Budget& budget);

}  // namespace stowage::tests
