#include "runtime/learned_order.h"

namespace stowage {
namespace {

constexpr std::int64_t memory = 16;

}  // namespace

void LearnedOrder::follows(LayerId before, LayerId after) {
  Seen& seen = seen_[before];
  ++seen.times[after];
  if (++seen.all < memory) return;
  seen.all = 0;
  for (auto& [layer, times] : seen.times) seen.all += times /= 2;
}

std::optional<LayerId> LearnedOrder::after(LayerId before) const {
  const auto known = seen_.find(before);
  if (known == seen_.end()) return {};
  for (const auto& [after, times] : known->second.times)
    if (times >= 2 && 5 * times >= 4 * known->second.all) return after;
  return {};
}

}  // namespace stowage
