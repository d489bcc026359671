// Understands what torch.profiler's export_memory_timeline writes: memory by category.
#pragma once

#include "traces/import/byte_window.h"
#include "traces/import/import_report.h"

namespace stowage {

// Reads either form: [[time_ns, action, bytes, category], ...], one change each, at -1 for what was there
// before; or [[time_us, ...], [[0, bytes of each category], ...]], levels over time. It names no blocks. A
// row of another shape is dropped and counted.
ImportReport import_memory_timeline(ByteWindow& window);

}  // namespace stowage
