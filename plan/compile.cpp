#include "plan/compiler.h"
#include "plan/layout.h"
#include "plan/program.h"

namespace stowage {
namespace {

void lay_out(const BlockTable& table, const Plan& plan, ProgramBuilder& builder) {
  Layout layout(table, plan, builder);
  builder.initial({Space::device, BufferKind::resident, {}, {}, table.fixed.resident});
  // Where several are issued at one instant, weights go before activations, and those before the optimizer's.
  place_weights(layout);
  for (const Pass& pass : layout.order.passes) place_pass(layout, pass);
  place_optimizer(layout);
}

}  // namespace

Program compile(const BlockTable& table, const Plan& plan) {
  ProgramBuilder builder;
  lay_out(table, plan, builder);
  return builder.finish(plan.transfer);
}

const Program& Compiler::compile(const BlockTable& table, const Plan& plan) {
  builder_.clear();
  lay_out(table, plan, builder_);
  return builder_.finish_here(plan.transfer);
}

}  // namespace stowage
