// A recording, told to people.
#pragma once

#include <string>

#include "traces/import/import_report.h"

namespace stowage {

// "a profiler trace of 56451 events, 3 steps"
std::string describe(const ImportReport& report);

// What it took to read a damaged recording: how often, and where first. Empty for a clean one.
std::string repairs_text(const Repairs& repairs);

// Blocks, times, copies, memory, and what is odd: a paragraph each, as far as they were recorded.
std::string recording_text(const ImportReport& report);

}  // namespace stowage
