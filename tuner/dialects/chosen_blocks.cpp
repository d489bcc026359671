#include "tuner/dialects/chosen_blocks.h"

namespace stowage {

Plan every_nth_last(const BlockTable& table, std::int64_t n) {
  if (n <= 1) return all_blocks(table, Policy::recompute);
  Plan plan = all_blocks(table, Policy::keep);
  std::uint32_t segment = 0;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if ((i + 1) % n != 0) continue;
    plan.blocks[i].activation = Activation::recompute;
    plan.blocks[i].segment = segment++;
  }
  if (segment > 0) plan.settings.reset();
  return plan;
}

Plan all_blocks(const BlockTable& table, Policy policy, std::int64_t prefetch) {
  Settings settings;
  settings.policy = policy;
  settings.transfer.prefetch = prefetch;
  return expand(table, settings).plan;
}

}  // namespace stowage
