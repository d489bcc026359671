// How a recording's time divides over blocks, steps and the rest.
#pragma once

#include <vector>

#include "traces/import/attribution.h"
#include "traces/import/intervals.h"
#include "traces/import/steps.h"

namespace stowage {

struct BlockWork {
  Nanos forward, backward, recompute;  // backward without the recomputation inside it
  bool ran = false;
};

// Work that belongs to no block.
struct StepWork {
  Nanos prologue;   // before the first block begins
  Nanos epilogue;   // after that, the backward apart
  Nanos backward;   // of what belongs to no block
  Nanos optimizer;  // and the adding up of gradients
};

// All work of the recording. The parts add up to `all`.
struct WorkTotals {
  Nanos all;
  Nanos blocks;       // forward, backward and recomputation of blocks
  Nanos collectives;  // never a block's, whoever launched them
  Nanos host_copies;  // likewise
  Nanos orphans;      // asked for before the recording began, collectives apart
  Nanos rest;
  std::int64_t orphan_count = 0;  // collectives included

  // The share that blocks explain; 0 of nothing.
  double explained() const;
};

struct TimeSheet {
  std::vector<std::vector<BlockWork>> blocks;  // by block, then step
  std::vector<StepWork> steps;
  // By step, from the first to the last of the work that it asked for; absent where that was none.
  std::vector<std::optional<StepWindow>> extents;
  WorkTotals totals;
  // When the device computes what was asked for in the recording, in no order. Empty where nothing ran on
  // one.
  std::vector<BusyInterval> own_compute;
};

TimeSheet time_sheet(const KinetoTrace& trace, const HostOrder& order, const Contexts& contexts,
                     const Blocks& blocks, const std::vector<StepWindow>& steps);

}  // namespace stowage
