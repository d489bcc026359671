// One direction of the link: copies one after another.
//
//            pays   follows   pays
//   one:     |~====|~=======|     |~====|        ~ latency, = transfer
//   several: |~====|=======|      |~====|        spared where a copy follows the one before it at once
//
// Ends keep order with what they are computed from, but for one thing: of several streams, a copy that starts
// later may end sooner, by at most the latency, because it follows the one before it at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "traces/units.h"

namespace stowage {

class CopyLane {
 public:
  CopyLane() = default;
  CopyLane(Nanos latency, bool several_streams) : latency_(latency), several_streams_(several_streams) {}

  Nanos end() const { return end_; }
  // A copy of `work` that may start at `earliest`; its end.
  Nanos copy(Nanos earliest, Nanos work) {
    const Nanos begin = std::max(earliest, end_);
    const bool pays = !several_streams_ || first_ || begin > end_;
    first_ = false;
    return end_ = begin + work + (pays ? latency_ : Nanos{});
  }
  // `count` copies of `work` together, all of which may start at `earliest`; the end of the last.
  Nanos copy_all(Nanos earliest, Nanos work, std::uint32_t count) {
    copy(earliest, work);
    if (!several_streams_) end_ += latency_ * (count - 1);
    return end_;
  }

 private:
  Nanos latency_, end_;
  bool several_streams_ = false, first_ = true;
};

}  // namespace stowage
