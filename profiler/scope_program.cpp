#include "profiler/scope_program.h"

#include <utility>

#include "plan/plan.h"

namespace stowage {

std::optional<Program> scope_program(Profile profile, const SavedList& saved, Scope scope) {
  for (BlockProfile& block : profile.blocks)
    block.times.scope_forward[static_cast<std::size_t>(scope)] = Nanos{};  // no plan runs without one
  const BlockTable table(profile);
  Plan plan = expand(table, {}).plan;
  bool any = false;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    if (!saved.has_parts(i, scope)) continue;
    plan.blocks[i].activation = Activation::recompute;
    plan.blocks[i].scope = scope;
    any = true;
  }
  if (!any) return {};
  return compile(table, plan);
}

void read_scope(const Program& program, const std::vector<StepMemory>& memory,
                std::vector<BlockReadings>& blocks) {
  for (const StepMemory& used : memory) {
    const Step& step = program.steps[used.step];
    if (!step.scope) continue;
    BlockReadings& block = blocks[*step.block];
    ByScope<Bytes>& rises = step.kind == StepKind::forward ? block.scope_dropped_rise : block.scope_rise;
    rises[static_cast<std::size_t>(*step.scope)] = used.peak - used.before;
  }
}

}  // namespace stowage
