#include "simulator/engine.h"

#include "simulator/chronicle.h"
#include "simulator/execution.h"

namespace stowage {

struct Engine::State {
  explicit State(const Machine& machine)
      : links(machine.links), shared(!links.undisturbed()), copies(links), ledger(machine) {}

  Outcome simulate(const Program& program, Timeline* timeline) {
    return shared ? simulate(program, SharedPace(links), timeline)
                  : simulate(program, SteadyPace(links), timeline);
  }

  template <class Pace>
  Outcome simulate(const Program& program, const Pace& pace, Timeline* timeline) {
    if (timeline) *timeline = {};
    ledger.open(program, timeline ? &timeline->memory : nullptr);
    times.assign(program.steps.size(), {});
    Execution<Pace> execution(program, pace, copies, ledger, times, timeline ? &timeline->stalls : nullptr);
    execution.run();
    const Outcome outcome = answer(execution);
    if (timeline) tell(program, outcome.run, *timeline);
    return outcome;
  }

  // What happens first is the verdict: memory runs out on the way, a deadlock is where it ends.
  template <class Pace>
  Outcome answer(const Execution<Pace>& execution) const {
    const Levels& peaks = ledger.peaks();
    Outcome outcome;
    outcome.run = {execution.now(),
                   execution.computed(),
                   {peaks.device, peaks.device, peaks.host, peaks.host_activation, peaks.host_pinned},
                   execution.stalls().sums()};
    Deadlock deadlock = execution.deadlock();
    if (const std::optional<OutOfMemory> overrun = ledger.overrun(times))
      outcome.verdict = *overrun;
    else if (!deadlock.waits.empty())
      outcome.verdict = std::move(deadlock);
    return outcome;
  }

  void tell(const Program& program, const Run& run, Timeline& timeline) const {
    timeline.source = "simulated";
    timeline.step = run.step;
    timeline.compute = run.compute;
    timeline.spans = spans_of(program, times);
    timeline.counters = counters_of(program, times);
  }

  const Links links;
  const bool shared;
  CopyTimes copies;
  Ledger ledger;
  StepTimes times;
};

Engine::Engine(const Machine& machine) : state_(std::make_unique<State>(machine)) {}
Engine::~Engine() = default;

Outcome Engine::simulate(const Program& program) {
  return state_->simulate(program, nullptr);
}

Outcome Engine::simulate(const Program& program, Timeline& timeline) {
  return state_->simulate(program, &timeline);
}

}  // namespace stowage
