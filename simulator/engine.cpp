#include "simulator/engine.h"

#include "simulator/chronicle.h"
#include "simulator/execution.h"
#include "simulator/request_log.h"
#include "simulator/reservation.h"

namespace stowage {

struct Engine::State {
  explicit State(const Machine& machine) : machine(machine), copies(machine), host(machine), ledger(machine) {
    if (machine.arena == ArenaKind::caching) reservation.emplace(machine);
  }

  // Without books the step begins with empty ones, which are kept only where they matter.
  Outcome simulate(const Program& program, Timeline* timeline, PinnedBuckets* books) {
    PinnedBuckets own(machine.host.pinned_rounding);
    const bool pooled = books || timeline || pinned_memory_is_short(program, machine);
    if (pooled) host.open(program, books ? *books : own);
    HostPool* const pool = pooled ? &host : nullptr;
    copies.require_disk_of(program);
    return uses_disk(program) ? simulate<lane_count>(program, timeline, pool)
                              : simulate<lane_count_without_disk>(program, timeline, pool);
  }

  template <int lanes>
  Outcome simulate(const Program& program, Timeline* timeline, HostPool* pool) {
    const Links& links = machine.links;
    return links.undisturbed() ? simulate(program, SteadyPace<lanes>(links), timeline, pool)
                               : simulate(program, SharedPace<lanes>(links), timeline, pool);
  }

  template <class Pace>
  Outcome simulate(const Program& program, const Pace& pace, Timeline* timeline, HostPool* pool) {
    if (timeline) *timeline = {};
    ledger.open(program, timeline ? &timeline->memory : nullptr, pool);
    times.assign(program.steps.size(), {});
    Execution<Pace> execution(program, pace, copies, ledger, pool, times,
                              timeline ? &timeline->stalls : nullptr);
    execution.run();
    Outcome outcome;
    const Levels& peaks = ledger.peaks();
    outcome.run = {
        execution.now(),
        execution.computed(),
        {peaks.device, peaks.device, peaks.host, peaks.host_activation, peaks.host_pinned, peaks.disk},
        execution.stalls().sums()};
    if (reservation) outcome.run.peaks.device_reserved = reserve(program, timeline);
    if (pool) outcome.run.peaks.pinned_on_device = on_device(pool->held());
    outcome.verdict = judge(program, outcome.run.peaks, execution.deadlock());
    if (timeline) tell(program, outcome.run, *timeline);
    return outcome;
  }

  Bytes reserve(const Program& program, Timeline* timeline) {
    if (!timeline) return reservation->reserve(program, times, nullptr);
    ArenaCurves curves;
    const Bytes reserved = reservation->reserve(program, times, &curves);
    timeline->memory.allocated = std::move(curves.allocated);
    timeline->memory.reserved = std::move(curves.reserved);
    return reserved;
  }

  Bytes on_device(Bytes pinned) const {
    const std::optional<Bytes>& margin = machine.host.device_margin;
    return margin && pinned > Bytes{} ? pinned + *margin : Bytes{};
  }

  // What happens first is the verdict: memory runs out on the way, a deadlock is where it ends. A caching
  // arena runs out of device memory no later than what is live.
  Verdict judge(const Program& program, const Peaks& peaks, Deadlock deadlock) {
    const std::optional<OutOfMemory> overrun = ledger.overrun(times);
    Reservation::Fit fit;
    if (reservation) fit = reservation->fit();
    const bool device_does = !fit.shortage && !(overrun && overrun->space == MemorySpace::device);
    if (device_does && peaks.pinned_on_device > Bytes{} && peaks.on_device() > machine.device.usable())
      return refused_on_device(program, peaks);
    if (fit.shortage && !(overrun && overrun->at < fit.shortage->at)) return *fit.shortage;
    if (overrun) return *overrun;
    if (!deadlock.waits.empty()) return deadlock;
    return Ran{fit.retries};
  }

  OutOfMemory refused_on_device(const Program& program, const Peaks& peaks) const {
    const Bytes margin = *machine.host.device_margin;
    return {MemorySpace::pinned,
            program.first(Lane::compute),
            {},
            peaks.pinned_on_device - margin,
            machine.device.usable() - peaks.device_reserved - margin,
            {},
            peaks.device_reserved};
  }

  void tell(const Program& program, const Run& run, Timeline& timeline) const {
    timeline.source = "simulated";
    timeline.step = run.step;
    timeline.compute = run.compute;
    timeline.spans = spans_of(program, times, host);
    timeline.counters = counters_of(program, times, host);
  }

  const Machine machine;
  CopyTimes copies;
  HostPool host;
  Ledger ledger;
  std::optional<Reservation> reservation;
  StepTimes times;
};

Engine::Engine(const Machine& machine) : state_(std::make_unique<State>(machine)) {}
Engine::~Engine() = default;

Outcome Engine::simulate(const Program& program) {
  return state_->simulate(program, nullptr, nullptr);
}

Outcome Engine::simulate(const Program& program, Timeline& timeline) {
  return state_->simulate(program, &timeline, nullptr);
}

Outcome Engine::simulate(const Program& program, PinnedBuckets& pool, Timeline& timeline) {
  return state_->simulate(program, &timeline, &pool);
}

Outcome Engine::simulate(const Program& program, Timeline& timeline, Journal& journal) {
  PinnedBuckets pool(state_->machine.host.pinned_rounding);
  return simulate(program, pool, timeline, journal);
}

Outcome Engine::simulate(const Program& program, PinnedBuckets& pool, Timeline& timeline, Journal& journal) {
  const Outcome outcome = simulate(program, pool, timeline);
  RequestLog requests;
  requests.list(program, state_->times);
  journal = requests.journal();
  return outcome;
}

}  // namespace stowage
