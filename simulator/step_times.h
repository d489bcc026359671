// When each step of a program began and ended.
#pragma once

#include <limits>
#include <vector>

#include "plan/program.h"
#include "traces/units.h"

namespace stowage {

// Later than everything: the time of what does not happen.
inline constexpr Nanos never{std::numeric_limits<std::int64_t>::max()};

struct StepTime {
  Nanos begin = never, end = never;
};

// One for each step, by id.
using StepTimes = std::vector<StepTime>;

// When the compute lane comes to an edge: a step is ready where the one before it ends.
inline Nanos instant_of(Trigger at, const StepTimes& times) {
  if (at.edge == Edge::begin) return times[at.step].begin;
  if (at.edge == Edge::end) return times[at.step].end;
  return at.step == 0 ? Nanos{} : times[at.step - 1].end;
}

// When an edge of any step came; `never` if it did not.
inline Nanos edge_of(const Program& program, const StepTimes& times, StepId step, Edge edge) {
  if (edge == Edge::begin) return times[step].begin;
  if (edge == Edge::end) return times[step].end;
  const bool copy = program.steps[step].is_copy();
  return instant_of(copy ? program.steps[step].issue : Trigger{step, Edge::ready}, times);
}

}  // namespace stowage
