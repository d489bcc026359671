// What happened, or would happen, in one training step: the simulator and the recorder write the same file.
//
//   compute  |prologue|F0 |F1 |....|E|R0 |B0 ..|O|
//   h2d                          |  X0  |
//   d2h                |  X0  |
//   disk_write                |  X0    |      and disk_read, where a step uses a disk
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

enum class Lane : std::uint8_t { compute, h2d, d2h, disk_read, disk_write };
inline constexpr int lane_count = 5;
inline constexpr int lane_count_without_disk = 3;  // the first ones

inline bool of_disk(Lane lane) {
  return lane >= Lane::disk_read;
}

// What a span does. Copies name what they move: on a lane of the disk, between it and the host.
enum class StepKind : std::uint8_t {
  prologue,
  forward,
  epilogue,
  recompute,
  backward,
  optimizer,
  store_saved,
  restore_saved,
  store_input,
  restore_input,
  load_weights,
  store_weights,
  store_gradient,
  load_state,
  store_state,
};

// A half-open span of one lane. `bytes` is 0 on the compute lane.
struct Span {
  Lane lane;
  StepKind kind;
  std::optional<std::uint32_t> block;
  std::optional<std::uint32_t> storage;  // index into the block's storages(), for saved tensors
  Nanos begin, end;
  Bytes bytes;
  std::optional<std::uint32_t> layer = {};  // of the block's layers, where it works on that one alone
  bool pageable = false;  // a copy whose host memory is not pinned; no compute runs beside it

  bool operator==(const Span&) const = default;
};

// From `at` on, `bytes` are in use, until the next sample.
struct MemorySample {
  Nanos at;
  Bytes bytes;

  bool operator==(const MemorySample&) const = default;
};

// Why the compute lane stood still.
enum class StallCause : std::uint8_t {
  restore,   // activations, or optimizer states, were on their way back
  weights,   // weights were on their way
  store,     // what it needs could not start back before it had finished going out
  drain,     // compute had ended, copies had not
  pageable,  // a pageable copy was under way
  pinning,   // host memory was being pinned
  disk,      // what it needs was not back from the disk
};
inline constexpr int stall_cause_count = 7;

struct Stall {
  StallCause cause;
  std::optional<std::uint32_t> block;  // whose step waited; absent for drain
  Nanos begin, end;

  bool operator==(const Stall&) const = default;
};

struct Curves {
  std::vector<MemorySample> device, host;
  // Of a caching arena, else empty: what it has handed out, as rounded, and what it has taken from the
  // device.
  std::vector<MemorySample> allocated, reserved;
  std::vector<MemorySample> disk;  // empty where none is used

  bool operator==(const Curves&) const = default;
};

struct Timeline {
  std::string source;  // "simulated" or "measured"
  std::string name;    // of the profile
  Nanos step, compute;
  std::vector<Span> spans;  // by begin, then lane
  Curves memory;
  std::vector<Stall> stalls;                     // in time order; their sum is step - compute
  std::map<std::string, std::int64_t> counters;  // pool and prefetch

  bool operator==(const Timeline&) const = default;
};

const char* name_of(Lane lane);
const char* name_of(StepKind kind);
const char* name_of(StallCause cause);

// The highest sample of a curve; 0 where it is empty.
Bytes peak(const std::vector<MemorySample>& curve);

// As for profiles: throws InputError with the path of the key.
Timeline read_timeline(const std::string& file);
Timeline parse_timeline(const std::string& text);
std::string to_json(const Timeline& timeline);

}  // namespace stowage
