// Understands a Kineto trace.
#pragma once

#include "traces/import/import_report.h"
#include "traces/import/kineto_trace.h"

namespace stowage {

// Everything a report holds but `repairs`. Throws InputError for a
// pattern of blocks that is no regular expression.
ImportReport understand(const KinetoTrace& trace, const ImportOptions& options);

}  // namespace stowage
