#include "simulator/evaluator.h"

#include <algorithm>
#include <vector>

#include "simulator/copy_times.h"
#include "simulator/holders.h"
#include "simulator/host_pool.h"
#include "simulator/levels.h"
#include "simulator/pace.h"
#include "simulator/reservation.h"
#include "simulator/step_times.h"

namespace stowage {
namespace {

constexpr int compute = 0, h2d = 1;
constexpr std::array copy_lanes{2, 1, 3, 4};  // stores first: others wait for them

// Start times by recurrence.
class Timing {
 public:
  Timing(const Program& program, CopyTimes& copies, StepTimes& times)
      : program_(program), copies_(copies), times_(times) {
    for (int lane = 0; lane < lane_count; ++lane) next_[lane] = program.lanes[lane].begin;
    watched_ = next_[h2d];
  }

  // Each lane goes as far as what it waits for is known. False where that is not to the end: a deadlock.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      while (next_[compute] != program_.lanes[compute].end && time_compute()) moved = true;
      for (int lane : copy_lanes)
        while (next_[lane] != program_.lanes[lane].end && time_copy(lane)) moved = true;
    }
    for (int lane = 0; lane < lane_count; ++lane)
      if (next_[lane] != program_.lanes[lane].end) return false;
    return true;
  }

  // Once run: step, compute and stalls.
  Run figures() const {
    Run run;
    run.step = *std::max_element(ended_.begin(), ended_.end());
    run.compute = computed_;
    run.stalls = stalls_;
    run.stalls[static_cast<int>(StallCause::drain)] = run.step - ended_[compute];
    return run;
  }

 private:
  bool known(StepId step) const {
    int lane = compute;
    while (step >= program_.lanes[lane].end) ++lane;
    return step < next_[lane];
  }
  // Raises `begin` to the latest end that the step waits for; false where one is not known yet.
  bool await(StepId step, Nanos& begin) const {
    const Range range = program_.wait_ranges[step];
    for (std::uint32_t i = range.begin; i != range.end; ++i) {
      if (!known(program_.waits[i])) return false;
      begin = std::max(begin, times_[program_.waits[i]].end);
    }
    return true;
  }

  bool time_compute() {
    const StepId step = next_[compute];
    const Nanos ready = ended_[compute];
    Nanos begin = ready;
    if (!await(step, begin)) return false;
    if (begin != ready) attribute(step, ready, begin);
    const Nanos duration = program_.steps[step].duration;
    computed_ += duration;
    finish(compute, begin, later(begin, duration));
    return true;
  }

  bool time_copy(int lane) {
    const StepId id = next_[lane];
    const Step& step = program_.steps[id];
    const bool begun = step.issue.edge != Edge::ready;
    // `ready` of a step is the end of the one before it, and so known one step earlier.
    if (step.issue.step + (begun ? 1 : 0) > next_[compute]) return false;
    const bool first = id == program_.lanes[lane].begin;
    Nanos begin = std::max(instant_of(step.issue, times_), ended_[lane]);
    if (!await(id, begin)) return false;
    const bool pays = program_.single_stream[lane] || first || begin > ended_[lane];
    const Nanos latency = pays ? copies_.latency(step.lane) : Nanos{};
    finish(lane, begin, later(later(begin, latency), copies_.transfer(step.lane, step.bytes)));
    return true;
  }

  void finish(int lane, Nanos begin, Nanos end) {
    times_[next_[lane]++] = {begin, end};
    ended_[lane] = end;
  }

  // While a copy to the device that the step needs is still to come, the stall is what that lane does; after
  // it, and where that lane stands still itself, it is a store or the disk.
  void attribute(StepId step, Nanos ready, Nanos begin) {
    Nanos until = ready;
    for (StepId wait : program_.waits_of(step))
      if (program_.steps[wait].lane == Lane::h2d) until = std::max(until, times_[wait].end);
    Nanos at = ready;
    while (at < until) {
      while (times_[watched_].end <= at) ++watched_;
      const StepTime& copy = times_[watched_];
      const bool idle = copy.begin > at;
      const bool weights = program_.steps[watched_].kind == StepKind::load_weights;
      const Nanos next = std::min(idle ? copy.begin : copy.end, until);
      if (idle)
        charge_idle(watched_, at, next);
      else
        charge(weights ? StallCause::weights : StallCause::restore, next - at);
      at = next;
    }
    charge(StallCause::store, begin - until);
  }
  // The lane of copies to the device stands still before `copy`.
  void charge_idle(StepId copy, Nanos from, Nanos to) {
    Nanos read = from;
    for (StepId wait : program_.waits_of(copy))
      if (program_.steps[wait].lane == Lane::disk_read) read = std::max(read, times_[wait].end);
    read = std::min(read, to);
    charge(StallCause::disk, read - from);
    charge(StallCause::store, to - read);
  }
  void charge(StallCause cause, Nanos time) { stalls_[static_cast<int>(cause)] += time; }

  const Program& program_;
  CopyTimes& copies_;
  StepTimes& times_;
  std::array<StepId, lane_count> next_;
  std::array<Nanos, lane_count> ended_{};  // of the step before `next_`
  StepId watched_;                         // the first copy to the device that may still explain a stall
  Nanos computed_;
  std::array<Nanos, stall_cause_count> stalls_{};
};

// Memory over known times: the lanes' edges in time order, all of one instant together.
class Merging {
 public:
  Merging(const Program& program, const StepTimes& times, PinnedRounding rounding, Holders& holders)
      : program_(program), times_(times), rounding_(rounding), holders_(holders) {
    holders.open(program);
    for (int lane = 0; lane < lane_count; ++lane) {
      const Range range = program.lanes[lane];
      lanes_[lane] = {range.begin, range.begin, range.end, Edge::begin, never};
    }
    LaneState& steps = lanes_[compute];
    steps.edge = Edge::ready;
    if (steps.step != steps.end) steps.at = Nanos{};
    for (int lane : copy_lanes) find_edge(lanes_[lane]);
  }

  Peaks run() {
    for (BufferId id : program_.initial) add(levels_, program_.buffers[id], rounding_);
    for (Nanos now; now != never; now = next()) {
      while (lanes_[compute].at == now) pass_compute_edge();
      for (int lane : copy_lanes)
        while (lanes_[lane].at == now) pass_copy_edge(lanes_[lane]);
      raise_peaks();
    }
    return {peaks_.device,          peaks_.device,      peaks_.host,
            peaks_.host_activation, peaks_.host_pinned, peaks_.disk};
  }

 private:
  struct LaneState {
    StepId step, issued, end;
    Edge edge;  // the edge to come, of `step`
    Nanos at;   // when
  };

  Nanos next() const {
    Nanos next = never;
    for (const LaneState& lane : lanes_) next = std::min(next, lane.at);
    return next;
  }

  void apply(StepId step, Edge edge) {
    const Range range = program_.effect_ranges[step][static_cast<int>(edge)];
    for (std::uint32_t i = range.begin; i != range.end; ++i) {
      const Buffer& buffer = program_.buffers[program_.effects[i].buffer];
      if (program_.effects[i].alloc)
        add(levels_, buffer, rounding_);
      else if (holders_.last_lets_go(program_.effects[i].buffer))
        remove(levels_, buffer, rounding_);
    }
  }

  void pass_compute_edge() {
    LaneState& lane = lanes_[compute];
    apply(lane.step, lane.edge);
    for (int each : copy_lanes) {
      LaneState& copies = lanes_[each];
      while (copies.issued != copies.end &&
             program_.steps[copies.issued].issue <= Trigger{lane.step, lane.edge})
        apply(copies.issued++, Edge::ready);
    }
    if (lane.edge == Edge::ready) {
      lane.edge = Edge::begin;
      lane.at = times_[lane.step].begin;
    } else if (lane.edge == Edge::begin) {
      lane.edge = Edge::end;
      lane.at = times_[lane.step].end;
    } else {
      lane.edge = Edge::ready;
      if (++lane.step == lane.end) lane.at = never;
    }
  }

  void pass_copy_edge(LaneState& lane) {
    apply(lane.step, lane.edge);
    if (lane.edge == Edge::end) ++lane.step;
    lane.edge = lane.edge == Edge::begin ? Edge::end : Edge::begin;
    find_edge(lane);
  }

  // Most edges of copies touch no memory: on to the first that does, from the one to come.
  void find_edge(LaneState& lane) const {
    lane.at = never;
    for (; lane.step != lane.end; ++lane.step, lane.edge = Edge::begin) {
      if (lane.edge == Edge::begin && touches(lane.step, Edge::begin)) {
        lane.at = times_[lane.step].begin;
        return;
      }
      lane.edge = Edge::end;
      if (touches(lane.step, Edge::end)) {
        lane.at = times_[lane.step].end;
        return;
      }
    }
  }
  bool touches(StepId step, Edge edge) const {
    return program_.effect_ranges[step][static_cast<int>(edge)].size() > 0;
  }

  void raise_peaks() {
    peaks_.device = std::max(peaks_.device, levels_.device);
    peaks_.host = std::max(peaks_.host, levels_.host);
    peaks_.host_activation = std::max(peaks_.host_activation, levels_.host_activation);
    peaks_.host_pinned = std::max(peaks_.host_pinned, levels_.host_pinned);
    peaks_.disk = std::max(peaks_.disk, levels_.disk);
  }

  const Program& program_;
  const StepTimes& times_;
  const PinnedRounding rounding_;
  Holders& holders_;
  std::array<LaneState, lane_count> lanes_;
  Levels levels_, peaks_;
};

}  // namespace

struct Evaluator::State {
  explicit State(const Machine& machine)
      : machine(machine), rounding(machine.host.pinned_rounding), copies(machine) {
    if (machine.arena == ArenaKind::caching) reservation.emplace(machine);
  }

  const Machine machine;
  const PinnedRounding rounding;
  CopyTimes copies;
  std::optional<Reservation> reservation;
  StepTimes times;
  Holders holders;
};

bool Evaluator::serves(const Machine& machine) {
  return machine.links.undisturbed();
}

bool Evaluator::serves(const Program& program) const {
  return !pinned_memory_is_short(program, state_->machine);
}

Evaluator::Evaluator(const Machine& machine) {
  if (!serves(machine)) throw DefectError("an evaluator was asked about a machine that shares its rates");
  state_ = std::make_unique<State>(machine);
}
Evaluator::~Evaluator() = default;

std::optional<Run> Evaluator::evaluate(const Program& program) {
  state_->copies.require_disk_of(program);
  state_->times.resize(program.steps.size());
  Timing timing(program, state_->copies, state_->times);
  if (!timing.run()) return {};
  Run run = timing.figures();
  run.peaks = Merging(program, state_->times, state_->rounding, state_->holders).run();
  if (state_->reservation)
    run.peaks.device_reserved = state_->reservation->reserve(program, state_->times, nullptr);
  return run;
}

}  // namespace stowage
