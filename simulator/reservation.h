// What a program takes of a machine's caching arena, once it is known when everything happens. Memory changes
// no time in this model, so that the arena is asked afterwards.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/program.h"
#include "simulator/caching_arena.h"
#include "simulator/outcome.h"
#include "simulator/replay.h"
#include "simulator/request_log.h"
#include "simulator/step_times.h"
#include "traces/machine.h"

namespace stowage {

// Keeps its memory from one program to the next. Not shared between threads.
class Reservation {
 public:
  explicit Reservation(const Machine& machine);

  // The most that is reserved, with memory as if it had no limit; nothing is ever given back then. `curves`
  // may be null. Throws InputError where sizes add up to more than 63 bits hold. Cost: a replay.
  Bytes reserve(const Program& program, const StepTimes& times, ArenaCurves* curves);

  struct Fit {
    std::int64_t retries = 0;  // times that cached memory had to be given back to go on
    std::optional<OutOfMemory> shortage;
  };
  // Whether the device's memory would do for the program last reserved. Cost: none where it would without
  // giving anything back; otherwise a replay, and for a shortage another to tell what would cure it.
  Fit fit();

  const RequestLog& requests() const { return requests_; }

 private:
  OutOfMemory shortage_at(std::size_t entry) const;

  const Bytes budget_;
  const ArenaOptions options_;
  RequestLog requests_;
  CachingArena arena_;
  Bytes reserved_;
};

}  // namespace stowage
