// The machine a step runs on: memory, links, and how its allocators behave.
#pragma once

#include <cstdint>
#include <string>

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

struct HostMemory {
  Bytes memory;
  Bytes pinned_limit;
  PinnedRounding pinned_rounding = PinnedRounding::exact;

  bool operator==(const HostMemory&) const = default;
};

struct Link {
  Rate rate;
  Nanos latency;  // of a copy that does not follow another back to back

  bool operator==(const Link&) const = default;
};

struct Links {
  Link h2d, d2h;
  Rate pageable;
  double duplex = 1.0;            // rate left to each direction while both are busy, (0, 1]
  double compute_slowdown = 0.0;  // fraction of the compute rate lost while a copy is under way, [0, 1)

  bool operator==(const Links&) const = default;
};

struct Machine {
  std::string name;
  DeviceMemory device;
  HostMemory host;
  Links links;
  ArenaKind arena = ArenaKind::ideal;

  bool operator==(const Machine&) const = default;
};

// As for profiles: throws InputError with the path of the key. Memory sizes and the rates of `h2d` and `d2h`
// are required. By default nothing is reserved, latencies are 0, all host memory may be pinned, and a
// pageable copy runs at a third of the h2d rate.
Machine read_machine(const std::string& file);
Machine parse_machine(const std::string& text);
std::string to_json(const Machine& machine);

}  // namespace stowage
