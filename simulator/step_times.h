// When each step of a program began and ended.
#pragma once

#include <vector>

#include "plan/program.h"
#include "traces/units.h"

namespace stowage {

struct StepTime {
  Nanos begin, end;
};

// One for each step, by id.
using StepTimes = std::vector<StepTime>;

}  // namespace stowage
