// The first step of a training under its program, against the same step by LibTorch alone.
#pragma once

#include <cstddef>
#include <string>

#include "cli/torch_device.h"
#include "cli/torch_subject.h"
#include "plan/program.h"

namespace stowage {

struct SelfCheck {
  std::size_t gradients = 0;  // that were compared, each whole
  std::string difference;     // the first one, in words; "": there is none, to the last bit
};

// Loss, gradients and the random state after the step are compared. No budget is kept meanwhile: the step
// without a plan is to fit. Throws as Executor does.
SelfCheck self_check(const Subject& subject, ChosenDevice& device, const Program& program);

}  // namespace stowage
