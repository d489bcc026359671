// Blocks of a model that nothing names, by the operators that they repeat.
#pragma once

#include "traces/import/blocks.h"

namespace stowage {

// Looks at the outermost operators of the thread that runs the forward, step by step where the trace marks
// steps: equal names and shapes in an equal order are equal blocks, called "block.0", "block.1", ... A block
// ends where the next begins, or with its last operator. Empty where nothing repeats.
Blocks operator_blocks(const KinetoTrace& trace, const HostOrder& order);

}  // namespace stowage
