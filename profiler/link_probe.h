// Measures how a device copies: each direction alone by size, both at once, and compute beside copies.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/link_fit.h"
#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

struct LinkProbeOptions {
  std::vector<Bytes> sizes{{1 << 16}, {1 << 18}, {1 << 20}, {1 << 22}, {1 << 24}};
  std::int64_t repeats = 7;
};

// The fastest of each size in one direction alone, and the link that they follow. Whatever else runs on the
// computer only ever adds to a copy's time, and adds most, for its size, to a small one.
struct DirectionReport {
  std::vector<CopyTiming> timings;
  LinkFit fit;
};

struct LinkReport {
  DirectionReport h2d, d2h;
  double duplex;            // share of its rate that is left to a direction while the other is busy as well
  double compute_slowdown;  // share of its rate that compute loses while both are busy

  // As a machine file has them. A share within a twentieth of none lost counts as none: repeats differ by as
  // much. Pageable copies, which devices do not offer, take the slower direction's rate.
  Links links() const;
};

// Takes twice the largest size from the device and from the host. Nothing else must use the device meanwhile.
LinkReport probe_links(Device& device, const LinkProbeOptions& options);

}  // namespace stowage
