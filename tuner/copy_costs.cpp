#include "tuner/copy_costs.h"

#include <algorithm>

#include "plan/pinned_size.h"

namespace stowage {

CopyCosts::CopyCosts(const BlockTable& table, const Machine& machine)
    : store_latency(machine.links.d2h.latency),
      restore_latency(machine.links.h2d.latency),
      // The simulator rounds shares to parts of a billion.
      slowdown(std::max(0.0, machine.links.compute_slowdown - 1e-9)) {
  const auto cargo = [&](Bytes bytes) {
    return Cargo{bytes, pinned_size(bytes, machine.host.pinned_rounding), machine.links.d2h.time_for(bytes),
                 machine.links.h2d.time_for(bytes)};
  };
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    weights.push_back(cargo(table.rows[i].sizes.weight));
    inputs.push_back(cargo(table.activation(i)));
  }
  for (const SavedStorage& storage : table.storages) storages.push_back(cargo(storage.bytes));
}

// Less one for what the multiplication may have rounded up.
Nanos CopyCosts::loss(Nanos transfers) const {
  const double lost = slowdown * static_cast<double>(transfers.value);
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(lost) - 1)};
}

}  // namespace stowage
