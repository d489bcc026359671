// The links of a host device: two threads that copy no faster than the links would, and the thread that
// computes, which carries out pageable copies itself.
//
//   compute  |==F_i==|==pageable==|==F_{i+1}==|
//   d2h        |=pinned=|                |=pinned=|
//
// Lanes slow each other as SharedRates has it. Where compute is slowed, it works at its own speed and then
// waits until it would have come as far.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/device.h"
#include "runtime/shared_rates.h"
#include "traces/machine.h"

namespace stowage {

class PacedLinks {
 public:
  explicit PacedLinks(const Links& links);
  ~PacedLinks();  // carries out what was submitted, then ends

  // As Device has them; copies must not outlive the links.
  std::shared_ptr<Copy> submit(CopyJob job);
  WorkSpan compute(Instant earliest, const std::function<void(Instant)>& work);
  // The compute thread is held up to then; nothing that needs it counts as begun before.
  void hold_until(Instant until);

 private:
  class PacedCopy;
  using Lock = std::unique_lock<std::mutex>;

  struct LaneState {
    std::deque<std::shared_ptr<PacedCopy>> waiting;  // the first is under way where the lane is busy
    bool busy = false;
    std::optional<Instant> previous_end;
  };

  void work(Lane lane);
  LaneState& state(Lane lane) { return lanes_[lane == Lane::d2h]; }
  const Link& link(Lane lane) const { return lane == Lane::h2d ? links_.h2d : links_.d2h; }
  std::optional<Instant> could_begin_at(Lane lane);
  bool is_next_pageable(Lane lane);
  bool serve_pageable(Lock& lock, Instant before = Instant::max());
  void wait_for(const PacedCopy& copy);
  void carry_out(Lane lane, Lock& lock);
  void move(const PacedCopy& copy, std::chrono::nanoseconds whole);
  std::chrono::nanoseconds transfer_time(const PacedCopy& copy) const;
  void begin_flow(Lane lane, Instant at, const Lock&);
  void end_flow(Lane lane, Instant at, const Lock&);
  void tell_change();
  void sleep_until_nearly_reached(Lane lane, std::chrono::nanoseconds work);
  void wait_until_reached(Lane lane, std::chrono::nanoseconds work);

  const Links links_;
  std::mutex mutex_;
  std::condition_variable changed_;  // something ended, was submitted, or changed its rate
  SharedRates rates_;
  std::atomic<std::uint64_t> changes_{0};  // of rates
  std::array<LaneState, 2> lanes_;         // h2d, d2h
  Instant host_free_at_{};                 // when compute, pinning or a pageable copy last let go of the host
  bool closing_ = false;
  std::array<std::thread, 2> threads_;
};

}  // namespace stowage
