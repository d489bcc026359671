// What the simulator answers: a bad plan is an answer, not an exception.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/program.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

struct Peaks {
  Bytes device;           // live bytes
  Bytes device_reserved;  // what the arena holds; equals `device` on the ideal arena
  Bytes host;             // activations and swapped weights
  Bytes host_activation;
  Bytes host_pinned;  // as `host`, each buffer rounded as the machine's host allocator does
};

// The whole step, with memory taken as if it had no limit.
struct Run {
  Nanos step, compute;
  Peaks peaks;
  std::array<Nanos, stall_cause_count> stalls{};  // their sum is step - compute

  Nanos stall() const { return step - compute; }
};

enum class MemorySpace : std::uint8_t { device, host, pinned };

struct Ran {};

struct OutOfMemory {
  MemorySpace space;
  StepId step;  // where the budget is passed first
  Nanos at;
  Bytes needed;  // by this instant's allocations together
  Bytes free;    // before them
};

struct Deadlock {
  std::vector<std::pair<StepId, StepId>> waits;  // who waits for whom
};

using Verdict = std::variant<Ran, OutOfMemory, Deadlock>;

struct Outcome {
  Verdict verdict;
  Run run;  // of a deadlock: as far as it went
};

}  // namespace stowage
