// A machine from a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/import/import_report.h"
#include "traces/machine.h"

namespace stowage {

// What a recording tells about the machine that it was made on.
struct RecordedMachine {
  std::string device;                  // its name; may be empty
  std::optional<Bytes> device_memory;  // all of it
  std::optional<Links> links;          // absent where no copy is large enough to tell a rate
  std::vector<std::string>
      assumptions;  // for people: what stands in for figures of `links` that were not recorded
};

// Rates of pinned copies are the links'; where none were recorded those of copies that do not say how host
// memory was pinned, then those of pageable ones, stand in.
RecordedMachine machine_of(const ImportReport& report);

}  // namespace stowage
