// A Kineto trace as the importer keeps it: what attribution, copies and memory need, and nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "traces/import/copy_kind.h"
#include "traces/import/name_table.h"
#include "traces/import/trace_header.h"
#include "traces/units.h"

namespace stowage {

using ThreadId = std::uint16_t;  // dense, in the order of first appearance
using StreamId = std::uint16_t;

enum class HostKind : std::uint8_t {
  operation,      // an operator on the forward's side, or inside a node of the backward
  backward_node,  // what the autograd engine runs
  annotation,     // a range that the user or a framework named
  module,         // the call of an nn.Module
};

// Time on a host thread. Nested as calls are, but for damage.
struct HostSpan {
  Nanos begin, end;
  NameTable::Id name;  // of a module without its prefix: "DecoderLayer_3"
  ThreadId thread;
  HostKind kind;
  std::uint16_t forward_thread;  // of a backward node: the profiler's own number for its forward's thread
  std::optional<std::uint32_t> sequence;  // links a backward node with the operator that made it
  std::uint32_t shapes;                   // a hash of the input shapes
  std::uint64_t external;                 // what device work may name as its origin; 0: none
};

// A call that started work on a device.
struct Launch {
  Nanos at;
  std::uint64_t correlation;
  ThreadId thread;
};

enum class DeviceKind : std::uint8_t { kernel, collective, set, copy };

// Work on a device's stream.
struct DeviceSpan {
  Nanos begin, end;
  std::uint64_t correlation;
  std::uint64_t external;
  StreamId stream;
  DeviceKind kind;

  Nanos duration() const { return end - begin; }
};

struct DeviceCopy {
  DeviceSpan span;
  CopyKind kind;
  std::optional<Bytes> bytes;  // some profilers leave it out
  std::optional<double>
      claimed;  // the rate that the trace states, bytes a nanosecond; known to be wrong at times
  bool timed;   // false where the duration cannot be right
};

// An allocation (positive) or a free (negative) of a caching allocator, when it was asked for.
struct MemoryEvent {
  Nanos at;
  std::uint64_t address;  // 0: not told
  Bytes bytes;
  std::optional<Bytes> allocated, reserved;  // totals after the event
  ThreadId thread;
  std::uint8_t device;  // index into memory_devices
};

struct MemoryDevice {
  std::int64_t type;  // 0 is the host
  std::int64_t id;

  bool on_host() const { return type == 0; }
  auto operator<=>(const MemoryDevice&) const = default;
};

// A synchronisation, where the profiler was asked to record them.
struct Synchronisation {
  Nanos at;
  NameTable::Id kind;                   // "Stream Wait Event", "Event Sync", ...
  StreamId stream;                      // that waits
  std::optional<std::int64_t> awaited;  // stream; absent where there is none or the profiler did not know it
};

struct Track {
  std::int64_t process, thread;

  auto operator<=>(const Track&) const = default;
};

// In the file's order; all times count from `header.base`. Deques, since growing them moves nothing.
struct KinetoTrace {
  TraceHeader header;
  NameTable names{NameTable::of_a_program};
  std::vector<Track> threads, streams;
  std::deque<HostSpan> host;
  std::deque<Launch> launches;
  std::deque<DeviceSpan> device;
  std::deque<DeviceCopy> copies;
  std::deque<MemoryEvent> memory;
  std::vector<MemoryDevice> memory_devices;
  std::deque<Synchronisation> synchronisations;
  std::int64_t events = 0;   // read from the file, used or not
  bool whole_micros = true;  // no time has decimals: durations are cut to microseconds
};

}  // namespace stowage
