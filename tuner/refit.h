// A profile and a machine, made to agree with the steps that were run under a plan.
//
//   new time of a piece = old time * measured / predicted
//
// A piece is a block's forward, with its recomputation; a block's backward; prologue, epilogue, optimizer; or
// all copies in one direction. Its measured and its predicted time are those of its spans in a step, so what
// links that are shared cost it is in both. What the plan never did keeps its time; sizes are not touched.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/machine.h"
#include "traces/profile.h"
#include "traces/timeline.h"

namespace stowage {

// What predictions are made from.
struct Figures {
  Profile profile;
  Machine machine;
};

// A piece, as it was predicted and as it was.
struct Drift {
  Lane lane;
  StepKind kind;  // on the compute lane; a forward stands for its recomputation as well
  std::optional<std::uint32_t> block;
  Nanos predicted, measured;  // in a step
};

struct Refit {
  Figures figures;           // blocks have no `count` any more
  std::vector<Drift> drift;  // of every piece that was measured; the most nanoseconds first
};

// `predicted` and `measured` are of one program; of several measured steps the median of each piece counts.
// A direction in which pageable copies went keeps its rates. Throws InputError where a timeline has other
// pieces than `predicted`, or none is given.
Refit refit(const Figures& figures, const Timeline& predicted, const std::vector<Timeline>& measured);

}  // namespace stowage
