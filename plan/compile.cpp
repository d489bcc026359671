#include "plan/layout.h"
#include "plan/program.h"

namespace stowage {

Program compile(const BlockTable& table, const Plan& plan) {
  Layout layout(table, plan);
  layout.builder.initial({Space::device, BufferKind::resident, {}, {}, table.fixed.resident});
  // Where several are issued at one instant, weights go before activations, and those before the optimizer's.
  place_weights(layout);
  for (const Pass& pass : layout.order.passes) place_pass(layout, pass);
  place_optimizer(layout);
  return layout.builder.finish(plan.transfer);
}

}  // namespace stowage
