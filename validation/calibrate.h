// From two measurements of a family, none of its blocks checkpointed and all of them, to a profile that the
// simulator prices every other schedule with.
//
//   none   peak = everything else + n (input + kept)        seconds = forward + backward
//   layer  peak = everything else + n input + 1 kept        seconds = forward + backward + forward again
//
// The shape gives the inputs and how kept bytes and work are shared among unlike blocks. What remains are
// four unknowns for four figures. Sizes are found through the simulator itself, so that it says exactly the
// two measured peaks.
#pragma once

#include <optional>
#include <variant>

#include "plan/plan.h"
#include "simulator/outcome.h"
#include "traces/profile.h"
#include "traces/units.h"
#include "validation/families.h"

namespace stowage {

struct Reading {
  Nanos step;
  Bytes peak;

  bool operator==(const Reading&) const = default;
};

// A family's step as the simulator knows it.
struct FamilyStep {
  Profile profile;
  // What switching checkpointing on costs a step besides recomputing: fused or compiled code that is left.
  Nanos switching;
};

// Why two readings say nothing of a block.
enum class NoBasis {
  frees_nothing,  // checkpointing every block frees no more than the simulator loses by it
  smaller         // the inputs alone are larger than the measured peak
};

// Where the extra time of checkpointing is longer than the whole step without it, it cannot be all
// recomputation, for a forward is part of that step. A forward is then taken as half the step, the most it
// can be where a backward takes at least as long, and the rest as `switching`.
std::variant<FamilyStep, NoBasis> calibrate(const Family& family, const Reading& none, const Reading& layer);

// The step as the shape alone has it: kept bytes as kept_by() says, no times; everything else such that
// `schedule` (absent: nothing checkpointed) peaks at `peak`, or nothing where that is less.
FamilyStep step_from_shape(const Family& family, Bytes peak, const std::optional<Settings>& schedule);

// Settings to a plan, groups that are always checkpointed included. The chain is the family's.
Plan plan_of(const BlockTable& table, const Family& family, const Settings& settings);

// The simulator's answer for a schedule, `switching` included; absent: nothing checkpointed. Memory has no
// limit. Cost: one expansion, compilation and evaluation.
Reading predict(const FamilyStep& step, const Family& family, const std::optional<Settings>& schedule);

}  // namespace stowage
