#include "plan/segments.h"

namespace stowage {

bool same_segment(const Plan& plan, std::uint32_t i, std::uint32_t j) {
  const auto& segment = plan.blocks[i].segment;
  return segment && segment == plan.blocks[j].segment;
}

bool starts_segment(const Plan& plan, std::uint32_t i) {
  return recomputed(plan, i) && (i == 0 || !same_segment(plan, i - 1, i));
}

bool ends_segment(const Plan& plan, std::uint32_t i) {
  return recomputed(plan, i) && (i + 1 == plan.blocks.size() || !same_segment(plan, i, i + 1));
}

}  // namespace stowage
