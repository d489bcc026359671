#include "profiler/host_machine.h"

#include <unistd.h>

namespace stowage {

Machine host_machine(Bytes device_memory) {
  const Bytes memory{static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE)};
  const Link link{{1'500'000'000}, {20'000}};
  Machine machine;
  machine.name = "host";
  machine.device = {device_memory, {}};
  machine.host = {memory, {memory.value / 2}, PinnedRounding::exact};
  machine.links = {link, link, link.rate};
  return machine;
}

}  // namespace stowage
