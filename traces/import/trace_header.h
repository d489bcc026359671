// What a Chrome trace says about itself beside its events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

struct TracedDevice {
  std::int64_t id;
  std::string name;  // may be empty
  Bytes memory;
};

struct TraceHeader {
  std::vector<TracedDevice> devices;
  Nanos base;  // what its times count from, since 1970; 0 where they are absolute
};

}  // namespace stowage
