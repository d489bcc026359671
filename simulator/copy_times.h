// How long copies take on a machine's links. Remembers sizes it has met, since blocks repeat them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "traces/machine.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

class CopyTimes {
 public:
  explicit CopyTimes(const Links& links) : links_{links.h2d, links.d2h}, pageable_(links.pageable) {}

  // As Link::time_for. `lane` is h2d or d2h.
  Nanos transfer(Lane lane, Bytes bytes) {
    Known& known = known_[index(lane)][slot_of(bytes)];
    if (known.bytes != bytes) known = {bytes, links_[index(lane)].time_for(bytes)};
    return known.time;
  }
  // From or to pageable memory: never quicker than pinned.
  Nanos pageable_transfer(Lane lane, Bytes bytes) {
    return std::max(transfer(lane, bytes), pageable_.time_for(bytes));
  }
  Nanos latency(Lane lane) const { return links_[index(lane)].latency; }

 private:
  static constexpr int slots = 64;
  struct Known {
    Bytes bytes;
    Nanos time;
  };

  static std::size_t index(Lane lane) { return lane == Lane::h2d ? 0 : 1; }
  // The high bits of a product by an odd constant spread sizes that are round numbers.
  static std::size_t slot_of(Bytes bytes) {
    return static_cast<std::uint64_t>(bytes.value) * 0x9E3779B97F4A7C15u >> 58;
  }

  std::array<Link, 2> links_;
  Rate pageable_;
  std::array<std::array<Known, slots>, 2> known_{};  // zero bytes take no time: right as it stands
};

}  // namespace stowage
