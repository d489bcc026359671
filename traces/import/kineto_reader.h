// Reads a Kineto trace of any age into its compact form.
#pragma once

#include "traces/import/byte_window.h"
#include "traces/import/kineto_trace.h"
#include "traces/import/repairs.h"

namespace stowage {

// Memory: about 60 bytes an event that is kept; flows, plain Python frames and metadata are not. Spans
// without a usable duration are counted in `repairs` and left out.
KinetoTrace read_kineto(ByteWindow& window, Repairs& repairs);

}  // namespace stowage
