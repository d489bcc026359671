#include "plan/workspaces.h"

namespace stowage {

std::optional<Bytes> of_scope(const BlockDecision& decision, const ByScope<Bytes>& figures) {
  return decision.scope ? figures[static_cast<std::size_t>(*decision.scope)] : std::nullopt;
}

Bytes first_workspace(const BlockRow& row, const BlockDecision& decision) {
  if (decision.activation == Activation::keep) return row.sizes.forward_workspace;
  return of_scope(decision, row.sizes.scope_dropped_workspace).value_or(*row.sizes.dropped_workspace);
}

Bytes second_workspace(const BlockRow& row, const BlockDecision& decision) {
  return of_scope(decision, row.sizes.scope_workspace).value_or(row.sizes.forward_workspace);
}

std::optional<Bytes> step_workspace(const BlockTable& table, std::uint32_t block,
                                    std::optional<std::uint32_t> layer) {
  return layer ? table.layers_of(block)[*layer].workspace : table.rows[block].sizes.rest_workspace;
}

bool makes_output_again(const BlockRow& row, const BlockDecision& decision) {
  return decision.activation == Activation::recompute && !of_scope(decision, row.sizes.scope_workspace);
}

}  // namespace stowage
