// What each block of a snapshot costs: memory to the byte, time as the host saw it.
#pragma once

#include <vector>

#include "traces/import/import_report.h"
#include "traces/import/snapshot_history.h"

namespace stowage {

struct SnapshotBlocks {
  std::vector<ImportedBlock> blocks;
  // By step: what lies before, between and after the blocks; all that is not a block's where no backward was
  // recorded is epilogue.
  std::vector<StepWork> steps;
};

// The backward of a block begins with the first free of what its forward kept and ends where that of the
// block before it begins; where nothing is freed in the reverse order of the blocks the recording holds no
// backward. `steps` are those that the passes belong to.
SnapshotBlocks snapshot_blocks(const SnapshotHistory& history, const std::vector<ImportedStep>& steps);

}  // namespace stowage
