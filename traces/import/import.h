// Imports a recording of any known format.
#pragma once

#include <string>

#include "traces/import/byte_source.h"
#include "traces/import/import_report.h"

namespace stowage {

// Reads a recording, packed or not, from a file or a pipe ("-": the standard input). Throws InputError naming
// `file` where it is no recording, or one that is refused, or so damaged that nothing of it is left;
// SystemError where it cannot be read. Damage is no error: it is counted in the report.
ImportReport import_recording(const std::string& file, const ImportOptions& options);

// The same from a source; `file` is for messages.
ImportReport import_recording(ByteSource& source, const std::string& file, const ImportOptions& options);

}  // namespace stowage
