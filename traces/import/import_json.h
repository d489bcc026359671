// An import as JSON.
#pragma once

#include <string>

#include "traces/import/import_report.h"
#include "traces/json.h"

namespace stowage {

// One object, as `stowage import --json` prints it.
std::string to_json(const ImportReport& report);

// Its keys `recovered` and `first_offsets`: counts of repairs by kind, and the byte of the unpacked file at
// which each was first met.
void write_recovered(JsonWriter& json, const Repairs& repairs);

}  // namespace stowage
