// Understands a memory snapshot.
#pragma once

#include "traces/import/import_report.h"
#include "traces/import/snapshot.h"

namespace stowage {

// Blocks by the lines in the stacks of allocations, which `options.blocks` steers as history_of() says; times
// are the host's. Of the devices the one with the longest history. Throws InputError where `options.blocks`
// is no regular expression.
ImportReport understand(const Snapshot& snapshot, const ImportOptions& options);

}  // namespace stowage
