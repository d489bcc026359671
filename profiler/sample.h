// What repeated timings of one thing say.
#pragma once

#include <vector>

#include "traces/units.h"

namespace stowage {

struct Spread {
  Nanos median;
  Nanos half_range;  // half of the range that holds nine of ten repeats
};

// Ranks are rounded outwards, so that of fewer than twenty repeats the range holds all. Throws DefectError
// for none. Cost: sorts a copy.
Spread spread_of(std::vector<Nanos> repeats);

}  // namespace stowage
