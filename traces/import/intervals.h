// Sets of half-open stretches of time.
#pragma once

#include <vector>

#include "traces/units.h"

namespace stowage {

struct BusyInterval {
  Nanos begin, end;
};

// Appends; what follows in time and touches the last interval becomes part of it: most of a trace does.
void append(std::vector<BusyInterval>& times, BusyInterval time);

// The same moments as `all`, in time order, apart from one another. Empty ones are dropped.
std::vector<BusyInterval> united(std::vector<BusyInterval> all);

// How long they last together. Of united intervals.
Nanos length(const std::vector<BusyInterval>& united);

// The moments of both, cut wherever an interval of either begins or ends. Of intervals in time order, apart
// from one another.
std::vector<BusyInterval> common(const std::vector<BusyInterval>& a, const std::vector<BusyInterval>& b);

// How long both last at once. Likewise.
Nanos overlap(const std::vector<BusyInterval>& a, const std::vector<BusyInterval>& b);

}  // namespace stowage
