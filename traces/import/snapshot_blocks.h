// What each block of a snapshot costs: memory to the byte, time as the host saw it.
#pragma once

#include <vector>

#include "traces/import/import_report.h"
#include "traces/import/snapshot_history.h"

namespace stowage {

// One entry for each block. The backward of a block begins with the first free of what its forward kept and
// ends where that of the block before it begins; where nothing is freed in the reverse order of the blocks
// the recording holds no backward. `steps`: how many the passes belong to.
std::vector<ImportedBlock> snapshot_blocks(const SnapshotHistory& history, std::size_t steps);

}  // namespace stowage
