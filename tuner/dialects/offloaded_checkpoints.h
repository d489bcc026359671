// Checkpointing whose blocks take their inputs from the host and leave their outputs there.
#pragma once

#include "tuner/dialects/dialect.h"

namespace stowage {

// What musubi-tuner, sd-scripts and their like do for checkpointing "to the CPU": a block's input comes from
// pageable memory before it runs, and its output goes there, while nothing else runs. In the backward pass
// the gradient makes the same two ways. The plan has one way each of the inputs; the other three are waited
// for. Adds it to a plan that recomputes every block.
void offload_checkpoints(Meaning& meaning, const BlockTable& table);

}  // namespace stowage
