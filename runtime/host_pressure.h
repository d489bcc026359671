// Whether the host has memory to spare. Pinned memory cannot be swapped out: who pins the last of it has the
// system kill a process, often this one, with no error to tell of.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/pinned_pool.h"
#include "traces/units.h"

namespace stowage {

// What the system could give without swapping: MemAvailable in a file like Linux's /proc/meminfo. Absent
// where there is no such line. Cost: about 20 us.
std::optional<Bytes> available_host_memory(const std::string& file = "/proc/meminfo");

// All that the computer has.
Bytes host_memory_size();

struct HostPressure {
  Bytes spare{512LL << 20};   // is left to the system
  Bytes overlooked{1 << 20};  // a request below that is not worth asking for
  std::function<std::optional<Bytes>()> available = [] { return available_host_memory(); };
};

// `source`, but nothing comes from it while less than what is asked for and the spare is available.
HostMemorySource watched(HostMemorySource source, HostPressure pressure = {});

}  // namespace stowage
