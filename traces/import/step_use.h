// What each step of a recording made of its time.
#pragma once

#include <optional>
#include <vector>

#include "traces/import/activity.h"
#include "traces/import/steps.h"

namespace stowage {

struct StepUse {
  Nanos busy;      // while anything runs on a device or, in a trace without one, in an operator of the host
  Nanos idle;      // the rest of the step
  Nanos compute;   // of `busy`, while a kernel runs that is no collective, or memory is set or copied on the
                   // device; what was asked for before the recording does not count
  Nanos crossing;  // while a copy crosses the link
  Nanos hidden;    // of that, while a kernel runs as well

  Nanos length() const { return busy + idle; }
};

// By step. Of several steps on a device each lasts from the first work that it asked for to the first that
// the next one did: the host runs ahead. A single one begins with the host's mark and ends with the last work
// that it asked for, if that is later than the mark's end. `extents`: what each asked for, as a TimeSheet has
// them.
std::vector<StepUse> use_of(const Activity& activity, const std::vector<StepWindow>& steps,
                            const std::vector<std::optional<StepWindow>>& extents);

}  // namespace stowage
