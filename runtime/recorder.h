// Writes down what happened in a step, as the simulator writes down what would.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

  // A step of the program has taken this long. Each once, in any order.
  void ran(StepId step, Nanos begin, Nanos end);
  // When a step has ended; it must have run.
  Nanos end_of(StepId step) const { return times_[step].end; }
  // Samples come in time order; one that is earlier than its predecessor counts as simultaneous, and of
  // simultaneous ones the highest stays.
  void device_bytes(Nanos at, Bytes bytes);
  void host_bytes(Nanos at, Bytes bytes);
  void count(const char* name, std::int64_t value) { timeline_.counters[name] = value; }

  // The whole step's timeline. Stalls are the gaps of the compute lane; what caused most of one is its cause.
  Timeline finish();

 private:
  struct Times {
    Nanos begin, end;
  };

  void list_spans();
  void list_stalls();
  void count_copies();
  StallCause cause_of(Nanos begin, Nanos end) const;

  const Program& program_;
  const Instant begin_;
  std::vector<Times> times_;  // by step
  Timeline timeline_;
};

}  // namespace stowage
