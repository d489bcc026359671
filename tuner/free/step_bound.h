// How long a step takes at least, of which it is known how many bytes travel and what recomputing costs.
//
// A plan is a point (x, r): bytes of activations that travel, and nanoseconds of recomputation. Of where it
// may lie a relaxation knows lines, r + price x >= value, one for each price. The bound is the least of the
// times below over all points above all lines:
//
//    r |\                     times grow in x and in r, the lines fall
//      | \\ .
//      |  \ \ . <- bound
//      +------------- x
#pragma once

#include <optional>
#include <vector>

#include "traces/units.h"

namespace stowage {

// A time that is at least `fixed` + `by_byte` x + `by_recompute` r, in nanoseconds.
struct TimePiece {
  double fixed, by_byte, by_recompute;
};

// A price, and what recomputation and priced copies cost together at least; an infinite price: none travels.
struct PricedLine {
  double price, value;
};

// The least step whose x is at most `most_bytes`, from below, exact to the nanosecond where no bytes travel.
// Absent: no point is above all lines. Cost: pieces times lines.
std::optional<Nanos> least_step(const std::vector<TimePiece>& pieces, const std::vector<PricedLine>& lines,
                                Bytes most_bytes);

}  // namespace stowage
