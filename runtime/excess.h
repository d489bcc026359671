// Finds a model that keeps more than the plan says, where checkpointing is not active, say: before memory
// runs out, and with the block that does it.
//
//   left by a step = live at its end - live at its begin + what the program frees of earlier steps meanwhile
#pragma once

#include "plan/program.h"

namespace stowage {

// Throws InputError where a forward of `program` has left more than twice what the program says, and 64 KiB
// more. `before` and `after` are live bytes of the device around the step, which has ended.
void refuse_excess(const Program& program, StepId step, Bytes before, Bytes after);

}  // namespace stowage
