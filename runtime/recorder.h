// Writes down what happened in a step, as the simulator writes down what would.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "runtime/device.h"
#include "traces/timeline.h"

namespace stowage {

class Recorder {
 public:
  // The step begins now.
  explicit Recorder(const Program& program);

  Nanos now() const { return since_begin(std::chrono::steady_clock::now()); }
  Nanos since_begin(Instant instant) const;
  Instant instant(Nanos since_begin) const { return begin_ + std::chrono::nanoseconds(since_begin.value); }

  // A step of the program has taken this long. Each once, in any order.
  void ran(StepId step, Nanos begin, Nanos end);
  // A copy whose host memory is not pinned.
  void is_pageable(StepId copy) { times_[copy].pageable = true; }
  // The compute thread was pinning host memory; in time order.
  void pinned(Nanos begin, Nanos end) { pinning_.push_back({begin, end, false}); }
  // Samples come in time order; one that is earlier than its predecessor counts as simultaneous, and of
  // simultaneous ones the highest stays.
  void device_bytes(Nanos at, Bytes bytes);
  void host_bytes(Nanos at, Bytes bytes);
  void count(const char* name, std::int64_t value) { timeline_.counters[name] = value; }

  // The whole step's timeline, with the pool of host buffers as the step left it. Stalls are the gaps of the
  // compute lane; what caused most of one is its cause.
  Timeline finish(const PinnedReport& pool);

 private:
  struct Times {
    Nanos begin, end;
    bool pageable = false;
  };

  void list_spans();
  void list_stalls();
  void count_copies();
  StallCause cause_of(Nanos begin, Nanos end) const;
  StallCause cause_of_copy(StepId copy) const;

  const Program& program_;
  const Instant begin_;
  std::vector<Times> times_;  // by step
  std::vector<Times> pinning_;
  Timeline timeline_;
};

}  // namespace stowage
