// What memory is made of while a step runs: a curve for each kind of buffer.
//
// The curves of one space add up to the timeline's own curve of it:
//
//   bytes |      ____saved
//         |   __/    |____
//         |--/ activations \--
//         |==== weights ======
//         +-------------------- time
#pragma once

#include <optional>
#include <vector>

#include "plan/program.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

struct KindCurve {
  BufferKind kind;
  std::vector<MemorySample> samples;  // the first at 0, then where the level changes; never only zeros
};

struct Composition {
  std::vector<KindCurve> device, host;  // in the order of BufferKind
  std::vector<MemorySample> pinned;     // host buffers that are pinned, rounded as the machine does
};

// Rebuilt from the spans, simulated or measured. Absent where they are not the program's steps, each once and
// in its lane's order. Cost: n log n in the program's buffers.
std::optional<Composition> composition(const Program& program, const Timeline& timeline,
                                       PinnedRounding rounding);

}  // namespace stowage
