// Finds a model that keeps more than the plan says, where checkpointing is not active, say: before memory
// runs out, and with the block that does it.
//
//   left by a pass = live at its end - live at its begin + what the program frees meanwhile of what was there
//                    or came - what copies bring meanwhile
#pragma once

#include "plan/program.h"

namespace stowage {

// Throws InputError where a block's forward, which is these steps of `program`, has left more than twice what
// the program says, and 64 KiB more. `before` and `after` are live bytes of the device around them.
void refuse_excess(const Program& program, Range steps, Bytes before, Bytes after);

}  // namespace stowage
