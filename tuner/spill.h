// Plans that would fit with a larger host, with a disk below the one there is.
//
// Not a proof, as the search is, but a try: of the plans that are fastest whatever the host's memory, each
// with a few sizes of what its activations may take of the host before they go on to the disk.
#pragma once

#include <optional>

#include "plan/block_table.h"
#include "traces/machine.h"
#include "tuner/tuner.h"

namespace stowage {

struct Spilled {
  std::optional<TunedPlan> plan;  // with `settings`
  std::int64_t considered = 0, evaluated = 0;
};

// The fastest that is faster than `than` and fits the request's budget and the machine's disk, which it must
// have. Cost: a search, and a simulation for each size tried.
Spilled spill(const BlockTable& table, const Machine& machine, const TuneRequest& request, Nanos than);

}  // namespace stowage
