// Understands a memory snapshot.
#pragma once

#include "traces/import/import_report.h"
#include "traces/import/snapshot.h"

namespace stowage {

// Blocks by the forward lines in the stacks of allocations; times are the host's. Of the devices the one with
// the longest history.
ImportReport understand(const Snapshot& snapshot);

}  // namespace stowage
