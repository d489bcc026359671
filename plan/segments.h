// Where the recomputed segments of a plan begin and end.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace stowage {

// Whether two blocks, i < j, belong to one recomputed segment. A block that recomputes one scope alone is a
// segment of its own.
bool same_segment(const Plan& plan, std::uint32_t i, std::uint32_t j);
bool starts_segment(const Plan& plan, std::uint32_t i);
bool ends_segment(const Plan& plan, std::uint32_t i);

inline bool recomputed(const Plan& plan, std::uint32_t i) {
  return plan.blocks[i].activation == Activation::recompute;
}
// All of the block, not one scope alone.
inline bool recomputed_whole(const BlockDecision& decision) {
  return decision.activation == Activation::recompute && !decision.scope;
}
// Whether the forward pass drops this storage, because a recomputation makes it again.
inline bool drops(const BlockDecision& decision, const SavedStorage& storage) {
  return decision.activation == Activation::recompute &&
         (!decision.scope || *decision.scope == storage.scope);
}

}  // namespace stowage
