// The machine a step runs on: memory, links, and how its allocators behave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

enum class PinnedRounding : std::uint8_t { exact, pow2, slab };
enum class ArenaKind : std::uint8_t { ideal, caching };

struct DeviceMemory {
  Bytes memory;
  Bytes reserved;  // not ours: driver, display, other processes

  Bytes usable() const { return memory - reserved; }
  bool operator==(const DeviceMemory&) const = default;
};

// What it costs to pin memory that was not pinned before. By default nothing.
struct Pinning {
  Nanos each;                     // of one buffer, whatever its size
  std::optional<Rate> rate = {};  // absent: bytes cost nothing

  Nanos time_for(Bytes bytes) const { return rate ? each + rate->time_for(bytes) : each; }
  bool free() const { return each == Nanos{} && !rate; }
  bool operator==(const Pinning&) const = default;
};

struct HostMemory {
  Bytes memory;
  Bytes pinned_limit;
  PinnedRounding pinned_rounding = PinnedRounding::exact;
  Pinning pinning = {};
  // Pinned memory counts against the device, too, as Windows has it, and leaves so much of the device free.
  // Absent: it does not.
  std::optional<Bytes> device_margin = {};

  bool operator==(const HostMemory&) const = default;
};

// What a copy of one size gets of a link, its latency not counted.
struct CurvePoint {
  Bytes bytes;
  Rate rate;

  bool operator==(const CurvePoint&) const = default;
};

// A copy's time by its size: at each point of the curve what the point says, straight lines between points
// and from nothing to the first, and from the last on at `rate`. Without a curve it is all at `rate`.
struct Link {
  Rate rate;
  Nanos latency;                       // of a copy that does not follow another back to back
  std::vector<CurvePoint> curve = {};  // rising in bytes; a larger copy takes no less time
  std::optional<double> duplex =
      {};  // rate left to this direction while both are busy; absent: as Links has it

  // Without the latency, rounded up. Never falls as `bytes` rise. Throws InputError as Rate::time_for.
  Nanos time_for(Bytes bytes) const;
  bool operator==(const Link&) const = default;
};

struct Links {
  Link h2d, d2h;
  Rate pageable;
  double duplex = 1.0;            // rate left to each direction while both are busy, (0, 1]
  double compute_slowdown = 0.0;  // fraction of the compute rate lost while a copy is under way, [0, 1)

  double share_left(const Link& link) const { return link.duplex.value_or(duplex); }
  // Whether nothing that runs slows anything else.
  bool undisturbed() const {
    return share_left(h2d) == 1.0 && share_left(d2h) == 1.0 && compute_slowdown == 0.0;
  }
  bool operator==(const Links&) const = default;
};

// Of the caching arena.
struct ArenaOptions {
  bool expandable_segments = false;  // segments grow by pages instead of being taken whole
  // How far the host, which sees that a stream has passed a buffer only when it allocates again, runs ahead
  // of the device: PyTorch's `record_stream`. 0: streams wait for each other by events, and nothing is held
  // back.
  Nanos record_stream_lag;

  bool operator==(const ArenaOptions&) const = default;
};

// Equal processes, each with a device of its own, that go in step and share one host. Each copies whenever
// the others do.
struct Ranks {
  std::int64_t count = 1;
  std::optional<Rate> host;  // what the host gives all of them in one direction; absent: one rank's link

  bool operator==(const Ranks&) const = default;
};

// A tier below host memory: an NVMe drive, say. Its two directions do not slow each other, and its queue is
// deep: a copy that follows another back to back pays no latency. Any host memory will do for it.
struct Disk {
  Bytes capacity;
  Link read, write;

  bool operator==(const Disk&) const = default;
};

struct Machine {
  std::string name;
  DeviceMemory device;
  HostMemory host;
  Links links;
  ArenaKind arena = ArenaKind::ideal;
  ArenaOptions arena_options;
  Ranks ranks;
  std::optional<Disk> disk = {};

  bool operator==(const Machine&) const = default;
};

// The machine as one of its ranks sees it: an equal share of the host's memory and of the disk, and links no
// faster than an equal share of what the host gives. What simulates takes a machine of one rank.
Machine of_one_rank(const Machine& machine);

// As for profiles: throws InputError with the path of the key. Memory sizes and the rates of `h2d` and `d2h`
// are required, of a disk its capacity and both rates. By default there is no disk, nothing is reserved,
// latencies are 0, all host memory may be pinned, none of it counts on the device (where it does, the margin
// is 64 MiB), and a pageable copy runs at a third of the h2d rate.
Machine read_machine(const std::string& file);
Machine parse_machine(const std::string& text);
std::string to_json(const Machine& machine);

}  // namespace stowage
