// One execution of a program: three lanes, each a cursor over its steps, and the instant they have reached.
//
// The order on every lane is known, so there is no queue of events: the next thing to happen is the earliest
// end among at most three running steps. Copies from `issued` on have not been reached by their trigger.
//
//   lane   done | head | issued, waiting | not issued
//               ^next                    ^issued      ^end
#pragma once

#include <array>
#include <cstdint>

#include "plan/program.h"
#include "simulator/copy_times.h"
#include "simulator/ledger.h"
#include "simulator/outcome.h"
#include "simulator/pace.h"
#include "simulator/stall_log.h"
#include "simulator/step_times.h"

namespace stowage {

template <class Pace>
class Execution {
 public:
  // `times` holds `never` for each step; it is filled for the steps that are carried out.
  Execution(const Program& program, const Pace& pace, CopyTimes& copies, Ledger& ledger, StepTimes& times,
            std::vector<Stall>* stalls)
      : program_(program), pace_(pace), copies_(copies), ledger_(ledger), times_(times), stalls_(stalls) {
    for (int lane = 0; lane < lane_count; ++lane) {
      const Range range = program.lanes[lane];
      lanes_[lane] = {range.begin, range.begin, range.end, Nanos{}};
    }
    lanes_[compute].issued = lanes_[compute].end;
  }

  // Ends where every lane is idle. Cost: linear in steps.
  void run() {
    reach_ready();
    for (;;) {
      finish_due();
      begin_heads();
      const Nanos next = pace_.next(now_);
      if (next == now_) continue;
      ledger_.close(now_);
      if (next == never) return;
      if (!pace_.busy(compute)) note_stall(next);
      now_ = next;
    }
  }

  Nanos now() const { return now_; }
  Nanos computed() const { return computed_; }
  const StallLog& stalls() const { return stalls_; }
  // Who waits for whom, where lanes are idle and steps are left.
  Deadlock deadlock() const {
    Deadlock found;
    for (int lane = 0; lane < lane_count; ++lane) {
      const StepId head = lanes_[lane].next;
      if (head == lanes_[lane].end) continue;
      const bool issued = head < lanes_[lane].issued;
      found.waits.push_back({head, issued ? *first_wait(head) : program_.steps[head].issue.step});
    }
    return found;
  }

 private:
  static constexpr int compute = 0, h2d = 1, d2h = 2;

  struct LaneState {
    StepId next, issued, end;
    Nanos ended;  // of the step before `next`
  };

  bool ended(StepId step) const {
    const int lane = step < program_.lanes[compute].end ? compute
                     : step < program_.lanes[h2d].end   ? h2d
                                                        : d2h;
    return step < lanes_[lane].next;
  }
  const StepId* first_wait(StepId step) const {
    const Range range = program_.wait_ranges[step];
    for (std::uint32_t i = range.begin; i != range.end; ++i)
      if (!ended(program_.waits[i])) return &program_.waits[i];
    return nullptr;
  }
  bool waits_for_h2d(StepId step) const {
    for (StepId wait : program_.waits_of(step))
      if (!ended(wait) && program_.steps[wait].lane == Lane::h2d) return true;
    return false;
  }

  // The compute lane has come to an edge of `step`.
  void reach(StepId step, Edge edge) {
    ledger_.apply(step, edge);
    const Trigger here{step, edge};
    for (LaneState* lane : {&lanes_[h2d], &lanes_[d2h]})
      while (lane->issued != lane->end && program_.steps[lane->issued].issue <= here)
        ledger_.apply(lane->issued++, Edge::ready);
  }
  void reach_ready() {
    const LaneState& lane = lanes_[compute];
    if (lane.next != lane.end) reach(lane.next, Edge::ready);
  }

  void finish_due() {
    if (pace_.due(compute, now_)) {
      const StepId step = finish(compute);
      computed_ += now_ - times_[step].begin;
      reach(step, Edge::end);
      reach_ready();
    }
    for (int lane : {h2d, d2h})
      if (pace_.due(lane, now_)) ledger_.apply(finish(lane), Edge::end);
  }
  StepId finish(int lane) {
    pace_.finish(lane);
    lanes_[lane].ended = now_;
    times_[lanes_[lane].next].end = now_;
    return lanes_[lane].next++;
  }

  bool can_begin(int lane) const {
    const LaneState& state = lanes_[lane];
    return !pace_.busy(lane) && state.next != state.issued && !first_wait(state.next);
  }
  void begin_heads() {
    if (can_begin(compute)) {
      const StepId step = lanes_[compute].next;
      times_[step].begin = now_;
      pace_.begin(compute, now_, Nanos{}, program_.steps[step].duration);
      reach(step, Edge::begin);
    }
    for (int lane : {h2d, d2h})
      if (can_begin(lane)) begin_copy(lane);
  }
  void begin_copy(int lane) {
    const LaneState& state = lanes_[lane];
    const Step& step = program_.steps[state.next];
    const bool follows = state.next != program_.lanes[lane].begin && state.ended == now_;
    const bool pays = program_.single_stream[lane] || !follows;
    times_[state.next].begin = now_;
    pace_.begin(lane, now_, pays ? copies_.latency(step.lane) : Nanos{},
                copies_.transfer(step.lane, step.bytes));
    ledger_.apply(state.next, Edge::begin);
  }

  // The compute lane stands still from now to `end`.
  void note_stall(Nanos end) {
    const LaneState& lane = lanes_[compute];
    if (lane.next == lane.end) return stalls_.add({StallCause::drain, {}, now_, end}, lane.next);
    StallCause cause = StallCause::store;
    if (pace_.busy(h2d) && waits_for_h2d(lane.next)) {
      const bool weights = program_.steps[lanes_[h2d].next].kind == StepKind::load_weights;
      cause = weights ? StallCause::weights : StallCause::restore;
    }
    stalls_.add({cause, program_.steps[lane.next].block, now_, end}, lane.next);
  }

  const Program& program_;
  Pace pace_;
  CopyTimes& copies_;
  Ledger& ledger_;
  StepTimes& times_;
  StallLog stalls_;
  std::array<LaneState, lane_count> lanes_;
  Nanos now_, computed_;
};

}  // namespace stowage
