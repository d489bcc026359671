#include "simulator/phases.h"

#include <algorithm>

#include "plan/program_parts.h"
#include "simulator/engine.h"

namespace stowage {
namespace {

Program with_resident(Program program, Bytes bytes) {
  program.initial.push_back(static_cast<BufferId>(program.buffers.size()));
  program.buffers.push_back({Space::device, BufferKind::workspace, {}, {}, bytes});
  return program;
}

}  // namespace

std::vector<RunPhase> simulate_phases(const BlockTable& table, const Plan& plan, const Machine& machine,
                                      const PhaseCosts& costs, LoadMode load) {
  Engine engine(machine);
  std::vector<RunPhase> phases;
  const auto add = [&](PhaseKind kind, const Program& program) {
    phases.push_back({kind, engine.simulate(program)});
  };
  // Pinned buffers are made in the first step, and found by those after it.
  PinnedBuckets pool(machine.host.pinned_rounding);
  const auto add_step = [&](PhaseKind kind, const Program& program) {
    Timeline timeline;
    phases.push_back({kind, engine.simulate(program, pool, timeline)});
  };
  const Program steady = compile(table, plan);
  add(PhaseKind::load, compile_load(table, plan, load, costs.checkpoint, false));
  add_step(PhaseKind::first_step, with_new_optimizer_state(steady));
  add_step(PhaseKind::steady_step, steady);
  add(PhaseKind::validation, with_resident(compile_forward(table, plan), costs.validation));
  add(PhaseKind::save, compile_save(table, plan));
  add(PhaseKind::resume, compile_load(table, plan, load, costs.checkpoint, true));
  return phases;
}

Bytes peak_of(const RunPhase& phase, MemorySpace space) {
  return phase.outcome.run.peaks.in(space);
}

const RunPhase& worst(const std::vector<RunPhase>& phases, MemorySpace space) {
  return *std::max_element(phases.begin(), phases.end(), [&](const RunPhase& a, const RunPhase& b) {
    return peak_of(a, space) < peak_of(b, space);
  });
}

}  // namespace stowage
