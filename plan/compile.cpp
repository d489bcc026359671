#include "plan/layout.h"
#include "plan/program.h"

namespace stowage {

Program compile(const BlockTable& table, const Plan& plan) {
  Layout layout(table, plan);
  layout.builder.initial({Space::device, BufferKind::resident, {}, {}, table.fixed.resident});
  layout.builder.initial({Space::device, BufferKind::optimizer_state, {}, {}, table.fixed.optimizer_state});
  // Weights before activations: where both are issued at one instant, weights go first.
  place_weights(layout);
  for (const Pass& pass : layout.order.passes) place_pass(layout, pass);
  return layout.builder.finish(plan.transfer);
}

}  // namespace stowage
