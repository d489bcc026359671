// Understands a PyTorch execution trace: which operators ran within which, on which tensors, but not when.
#pragma once

#include "traces/import/byte_window.h"
#include "traces/import/import_report.h"

namespace stowage {

// Reads schemas up to 1.1.1, and the flat nodes of those before 1.0.2. Blocks are found as in a Kineto trace;
// a block saves the storages that its forward makes and the backward reads. All times are 0.
ImportReport import_execution_trace(ByteWindow& window, const ImportOptions& options);

}  // namespace stowage
