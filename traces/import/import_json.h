// An import as JSON.
#pragma once

#include <string>

#include "traces/import/import_report.h"

namespace stowage {

// One object, as `stowage import --json` prints it.
std::string to_json(const ImportReport& report);

}  // namespace stowage
