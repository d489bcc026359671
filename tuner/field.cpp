#include "tuner/field.h"

#include <algorithm>

#include "tuner/choices.h"

namespace stowage {
namespace {

// Nothing is issued more than all restores, or all uses of weights, ahead.
std::uint32_t most_prefetch(const BlockTable& table, const SettingsSpace& space) {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(space.max_prefetch, 2 * std::int64_t{table.size()}));
}

}  // namespace

Field::Field(const BlockTable& table, const Machine& machine, const SettingsSpace& space)
    : table(table),
      machine(machine),
      costs(table, machine),
      shapes(list_shapes(table, space)),
      swaps(list_swaps(table, costs, space)),
      whole(list_values(table.size(), table.size()).size() == table.size()),
      max_prefetch(most_prefetch(table, space)),
      several_h2d_streams(space.max_streams > 1 && costs.restore_latency > Nanos{}),
      several_d2h_streams(space.max_streams > 1 && costs.store_latency > Nanos{}),
      forward(table, costs, swaps, max_prefetch) {}

Settings Field::settings_of(const Candidate& candidate) const {
  Settings settings = shapes[candidate.shape];
  settings.swap = swaps[candidate.swap].settings;
  const bool sends = settings.policy == Policy::offload || settings.policy == Policy::recompute_offload;
  if (!sends && settings.swap.blocks == 0) return settings;  // nothing is copied
  settings.transfer.prefetch = candidate.transfers.prefetch;
  settings.transfer.h2d_streams = candidate.transfers.several_h2d_streams ? 2 : 1;
  settings.transfer.d2h_streams = candidate.transfers.several_d2h_streams ? 2 : 1;
  return settings;
}

}  // namespace stowage
