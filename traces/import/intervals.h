// Sets of half-open stretches of time.
#pragma once

#include <vector>

#include "traces/units.h"

namespace stowage {

struct Interval {
  Nanos begin, end;
};

// The same moments as `all`, in time order, apart from one another. Empty ones are dropped.
std::vector<Interval> united(std::vector<Interval> all);

// How long they last together. Of united intervals.
Nanos length(const std::vector<Interval>& united);

// The moments of both, cut wherever an interval of either begins or ends. Of intervals in time order, apart
// from one another.
std::vector<Interval> common(const std::vector<Interval>& a, const std::vector<Interval>& b);

// How long both last at once. Likewise.
Nanos overlap(const std::vector<Interval>& a, const std::vector<Interval>& b);

}  // namespace stowage
