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

enum class MemorySpace : std::uint8_t { device, host, pinned, disk };
inline constexpr std::array memory_spaces{MemorySpace::device, MemorySpace::host, MemorySpace::pinned,
                                          MemorySpace::disk};

struct Peaks {
  Bytes device;           // live bytes
  Bytes device_reserved;  // what the arena holds at most; equals `device` on the ideal arena
  Bytes host;             // activations and swapped weights
  Bytes host_activation;
  Bytes host_pinned;  // as `host`, each buffer rounded as the machine's host allocator does
  Bytes disk = {};
  Bytes pinned_on_device = {};  // host memory that counts against the device, with the margin it has to leave

  // What the device's budget limits.
  Bytes on_device() const { return device_reserved + pinned_on_device; }
  // Of what a budget limits: on the device, on_device().
  Bytes in(MemorySpace space) const;
  bool operator==(const Peaks&) const = default;
};

// The whole step, with memory taken as if it had no limit. `compute` is the time in which the compute lane is
// busy: on a machine whose copies slow it, more than its work.
struct Run {
  Nanos step, compute;
  Peaks peaks;
  std::array<Nanos, stall_cause_count> stalls{};  // their sum is step - compute

  Nanos stall() const { return step - compute; }
  bool operator==(const Run&) const = default;
};

struct Ran {
  std::int64_t retries = 0;  // times that a caching arena had to give back what it had cached, to go on

  bool operator==(const Ran&) const = default;
};

// A caching arena, once it has given back every segment that is wholly free.
struct ArenaShortage {
  Bytes live, allocated, reserved;  // when the request was refused
  Bytes largest_free;               // block that is cached, of any stream
  Bytes enough;                     // a budget that would do, without ever giving anything back
  bool expandable_would_do;         // the budget, with segments that expand

  bool operator==(const ArenaShortage&) const = default;
};

struct OutOfMemory {
  MemorySpace space;
  StepId
      step;  // whose allocation passes the budget first; the program's first for what is there from the start
  Nanos at;
  Bytes needed;  // by this instant's allocations together
  Bytes free;    // before them, after this instant's frees
  // Device memory of a caching arena: `needed` is the one request that was refused, `free` the budget less
  // what is live. Absent for others.
  std::optional<ArenaShortage> arena = {};
  // Pinned memory that counts against the device: `needed` is all of it, asked for before the step begins,
  // and `free` what is left of the device besides this much, which the device itself needs. Absent for
  // others.
  std::optional<Bytes> device_needs = {};

  // More is free than is needed, but not in one piece, or rounding took it.
  bool fragmentation() const { return needed <= free; }
  bool operator==(const OutOfMemory&) const = default;
};

struct Deadlock {
  std::vector<std::pair<StepId, StepId>> waits;  // who waits for whom

  bool operator==(const Deadlock&) const = default;
};

// What happens first: memory runs out on the way, a deadlock is where a program ends. Where pinned memory
// counts against the device, what both need together is known before the first buffer is pinned: that comes
// first unless the device would be too small for its own.
using Verdict = std::variant<Ran, OutOfMemory, Deadlock>;

struct Outcome {
  Verdict verdict;
  Run run;  // of a deadlock: as far as it went
};

}  // namespace stowage
