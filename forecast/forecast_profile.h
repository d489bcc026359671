// From the two forecast steps to a profile that any plan can be priced with.
#pragma once

#include "forecast/step_model.h"
#include "traces/profile.h"
#include "validation/sweep.h"

namespace stowage {

struct ForecastProfile {
  Profile profile;
  // What switching checkpointing on costs besides recomputing; of plans that recompute.
  Nanos switching;
};

// Sizes and times are calibrated so that the simulator says both steps of `basis`. What a block keeps is
// parted by scope as the model has it; its weights are taken out of what stays, and where all are trained its
// gradients, too. Where `basis` says nothing of a block (checkpointing seems to free nothing), the model
// does. Throws InputError where neither does.
ForecastProfile forecast_profile(const Family& family, const TrainedShape& training, const Gpu& gpu,
                                 const SweepBasis& basis, const StepModel& model);

}  // namespace stowage
