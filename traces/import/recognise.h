// Tells recordings apart by their content.
#pragma once

#include <optional>
#include <string_view>

#include "traces/import/import_report.h"

namespace stowage {

// From the beginning of a recording, a mebibyte of it or all. A trace whose events lie further in is
// recognised too. Absent for anything that is no recording.
std::optional<RecordingFormat> recognise(std::string_view beginning);

// What it is instead, for a message: "a zip archive", "an SQLite database", "empty", ... or "no recording".
std::string_view other_content(std::string_view beginning);

}  // namespace stowage
