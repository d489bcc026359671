// What each block of a snapshot costs: memory to the byte, time as the host saw it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/import/import_report.h"
#include "traces/import/snapshot_history.h"

namespace stowage {

struct SnapshotBlocks {
  std::vector<ImportedBlock> blocks;
  // By step: what lies before, between and after the blocks; all that is not a block's where no backward was
  // recorded is epilogue.
  std::vector<StepWork> steps;
  // By step: how far the level rises between the last block's forward and the first one's backward; absent
  // where no backward was recorded.
  std::vector<std::optional<Bytes>> loss_rises;
  std::string doubt;  // why the blocks' figures cannot be believed; empty where they can
};

// The backward of a block begins when that of the next block has freed what it kept, and ends where that of
// the block before it begins; where nothing is freed in the reverse order of the blocks the recording holds
// no backward. `steps` are those that the passes belong to.
SnapshotBlocks snapshot_blocks(const SnapshotHistory& history, const std::vector<ImportedStep>& steps);

}  // namespace stowage
