// How long copies take on a machine's links. Remembers sizes it has met, since blocks repeat them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "plan/program.h"
#include "traces/error.h"
#include "traces/machine.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

class CopyTimes {
 public:
  explicit CopyTimes(const Machine& machine)
      : links_{machine.links.h2d, machine.links.d2h}, pageable_(machine.links.pageable) {
    if (!machine.disk) return;
    links_[2] = machine.disk->read;
    links_[3] = machine.disk->write;
    has_disk_ = true;
  }

  // Throws InputError where the program uses a disk and the machine has none.
  void require_disk_of(const Program& program) const {
    if (uses_disk(program) && !has_disk_)
      throw InputError("the machine", "disk",
                       "the plan puts something on a disk, which the machine does not have");
  }

  // As Link::time_for. `lane` is not compute, and one of the disk only where the machine has one.
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

  static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane) - 1; }
  // The high bits of a product by an odd constant spread sizes that are round numbers.
  static std::size_t slot_of(Bytes bytes) {
    return static_cast<std::uint64_t>(bytes.value) * 0x9E3779B97F4A7C15u >> 58;
  }

  std::array<Link, lane_count - 1> links_;
  Rate pageable_;
  bool has_disk_ = false;
  std::array<std::array<Known, slots>, lane_count - 1>
      known_{};  // zero bytes take no time: right as it stands
};

}  // namespace stowage
