// One execution of a program: lanes, each a cursor over its steps, and the instant they have reached.
//
// The order on every lane is known, so there is no queue of events: the next thing to happen is the earliest
// end among the running steps, at most one of each lane. Copies from `issued` on have not been reached by
// their trigger.
//
//   lane   done | head | issued, waiting | not issued
//               ^next                    ^issued      ^end
//
// At one instant copies end first, then the compute step; then what may begin begins, and so on until nothing
// more happens at it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "plan/program.h"
#include "simulator/copy_times.h"
#include "simulator/host_pool.h"
#include "simulator/ledger.h"
#include "simulator/outcome.h"
#include "simulator/pace.h"
#include "simulator/stall_log.h"
#include "simulator/step_times.h"

namespace stowage {

template <class Pace>
class Execution {
 public:
  // `times` holds `never` for each step; it is filled for the steps that are carried out. `host` is null
  // where all host memory is pinned.
  Execution(const Program& program, const Pace& pace, CopyTimes& copies, Ledger& ledger, HostPool* host,
            StepTimes& times, std::vector<Stall>* stalls)
      : program_(program),
        pace_(pace),
        copies_(copies),
        ledger_(ledger),
        host_(host),
        times_(times),
        stalls_(stalls) {
    for (int lane = 0; lane < lanes; ++lane) {
      const Range range = program.lanes[lane];
      lanes_[lane] = {range.begin, range.begin, range.end, Nanos{}, false, {}};
    }
    lanes_[compute].issued = lanes_[compute].end;
  }

  // Ends where every lane is idle. Cost: linear in steps.
  void run() {
    reach_ready();
    for (;;) {
      finish_due();
      begin_heads();
      const Nanos next = host_ ? std::min(pace_.next(now_), next_release()) : pace_.next(now_);
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
    for (int lane = 0; lane < lanes; ++lane) {
      const StepId head = lanes_[lane].next;
      if (head == lanes_[lane].end) continue;
      const bool issued = head < lanes_[lane].issued;
      found.waits.push_back({head, issued ? *first_wait(head) : program_.steps[head].issue.step});
    }
    return found;
  }

 private:
  static constexpr int compute = 0, h2d = 1, d2h = 2, lanes = Pace::used_lanes;
  // What fills a host buffer is issued before what reads it.
  static constexpr auto copy_lanes = [] {
    if constexpr (lanes == lane_count_without_disk)
      return std::array{h2d, d2h};
    else
      return std::array{static_cast<int>(Lane::disk_read), h2d, d2h, static_cast<int>(Lane::disk_write)};
  }();

  struct LaneState {
    StepId next, issued, end;
    Nanos ended;            // of the step before `next`
    bool pageable = false;  // the running copy is
    std::optional<std::uint64_t>
        queued;  // since which round its next copy, a pageable one, waits for the host
  };

  bool ended(StepId step) const {
    int lane = compute;
    while (lane + 1 < lanes && step >= program_.lanes[lane].end) ++lane;
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

  bool waits_for_disk(StepId step) const {
    for (StepId wait : program_.waits_of(step))
      if (!ended(wait) && program_.steps[wait].lane == Lane::disk_read) return true;
    return false;
  }

  void apply(StepId step, Edge edge) {
    ledger_.apply(step, edge);
    if (host_) host_->pass(step, edge);
  }
  void issue(StepId copy) {
    if (host_) host_->issue(copy, now_);
    apply(copy, Edge::ready);
  }
  // The compute lane has come to an edge of `step`.
  void reach(StepId step, Edge edge) {
    apply(step, edge);
    const Trigger here{step, edge};
    for (int lane : copy_lanes) {
      LaneState& state = lanes_[lane];
      while (state.issued != state.end && program_.steps[state.issued].issue <= here) issue(state.issued++);
    }
  }
  void reach_ready() {
    const LaneState& lane = lanes_[compute];
    if (lane.next != lane.end) reach(lane.next, Edge::ready);
  }

  void finish_due() {
    for (int lane : copy_lanes)
      if (pace_.due(lane, now_)) apply(finish(lane), Edge::end);
    if (!pace_.due(compute, now_)) return;
    const StepId step = finish(compute);
    computed_ += now_ - times_[step].begin;
    reach(step, Edge::end);
    reach_ready();
  }
  StepId finish(int lane) {
    pace_.finish(lane);
    lanes_[lane].pageable = false;
    lanes_[lane].ended = now_;
    times_[lanes_[lane].next].end = now_;
    return lanes_[lane].next++;
  }

  bool can_begin(int lane) const {
    const LaneState& state = lanes_[lane];
    return !pace_.busy(lane) && state.next != state.issued && !first_wait(state.next);
  }
  void begin_heads() {
    if (host_ && !make_way()) return;
    if (can_begin(compute) && host_is_free()) {
      const StepId step = lanes_[compute].next;
      times_[step].begin = now_;
      pace_.begin(compute, now_, Nanos{}, program_.steps[step].duration);
      reach(step, Edge::begin);
    }
    begin_pinned_copies();
    if (host_) queue_pageable();
  }
  void begin_pinned_copies() {
    for (int lane : copy_lanes)
      if (can_begin(lane) && !(host_ && is_kept(lanes_[lane].next))) begin_copy(lane);
  }
  // A pageable copy, or one whose memory is still being pinned.
  bool is_kept(StepId copy) const { return host_->copies_pageable(copy) || host_->usable_from(copy) > now_; }
  void begin_copy(int lane) {
    LaneState& state = lanes_[lane];
    const Step& step = program_.steps[state.next];
    const bool follows = state.next != program_.lanes[lane].begin && state.ended == now_;
    const bool pays = program_.single_stream[lane] || !follows;
    state.pageable = host_ && host_->copies_pageable(state.next);
    times_[state.next].begin = now_;
    pace_.begin(lane, now_, pays ? copies_.latency(step.lane) : Nanos{},
                state.pageable ? copies_.pageable_transfer(step.lane, step.bytes)
                               : copies_.transfer(step.lane, step.bytes));
    apply(state.next, Edge::begin);
  }

  // Whether the host thread, which launches compute and carries out pageable copies, is neither held by such
  // a copy nor by pinning.
  bool host_is_free() const {
    return !host_ || (!lanes_[h2d].pageable && !lanes_[d2h].pageable && host_->held_until() <= now_);
  }
  // Copies that take no time are over before anything else begins at this instant: false while there are any.
  // Then a pageable copy goes before the next compute step; of two the one that could have begun earlier.
  bool make_way() {
    begin_pinned_copies();
    for (int lane : copy_lanes)
      if (pace_.due(lane, now_)) return false;
    queue_pageable();
    if (pace_.busy(compute) || !host_is_free()) return true;
    const auto &in = lanes_[h2d].queued, &out = lanes_[d2h].queued;
    if (!in && !out) return true;
    const int chosen = !out || (in && *in <= *out) ? h2d : d2h;
    lanes_[chosen].queued.reset();
    begin_copy(chosen);
    return true;
  }
  void queue_pageable() {
    ++round_;
    for (int lane : {h2d, d2h})
      if (!lanes_[lane].queued && can_begin(lane) && host_->copies_pageable(lanes_[lane].next))
        lanes_[lane].queued = round_;
  }
  // When pinning lets go of the compute lane, or of a copy that could begin but for it.
  Nanos next_release() const {
    Nanos next = never;
    const auto consider = [&](Nanos at) {
      if (at > now_) next = std::min(next, at);
    };
    if (!pace_.busy(compute) && lanes_[compute].next != lanes_[compute].end) consider(host_->held_until());
    for (int lane : copy_lanes)
      if (can_begin(lane))
        consider(host_->copies_pageable(lanes_[lane].next) ? host_->held_until()
                                                           : host_->usable_from(lanes_[lane].next));
    return next;
  }

  // The compute lane stands still from now to `end`.
  void note_stall(Nanos end) {
    const LaneState& lane = lanes_[compute];
    if (lane.next == lane.end) return stalls_.add({StallCause::drain, {}, now_, end}, lane.next);
    StallCause cause = StallCause::store;
    if (lanes_[h2d].pageable || lanes_[d2h].pageable) {
      cause = StallCause::pageable;
    } else if (host_ && host_->held_until() > now_) {
      cause = StallCause::pinning;
    } else if (pace_.busy(h2d) && waits_for_h2d(lane.next)) {
      const bool weights = program_.steps[lanes_[h2d].next].kind == StepKind::load_weights;
      cause = weights ? StallCause::weights : StallCause::restore;
    } else if (lanes > lane_count_without_disk && waits_for_h2d(lane.next) &&
               waits_for_disk(lanes_[h2d].next)) {
      cause = StallCause::disk;
    }
    stalls_.add({cause, program_.steps[lane.next].block, now_, end}, lane.next);
  }

  const Program& program_;
  Pace pace_;
  CopyTimes& copies_;
  Ledger& ledger_;
  HostPool* const host_;
  StepTimes& times_;
  StallLog stalls_;
  std::array<LaneState, lanes> lanes_;
  Nanos now_, computed_;
  std::uint64_t round_ = 0;  // counts how often copies have queued for the host
};

}  // namespace stowage
