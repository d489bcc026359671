#include "profiler/host_machine.h"

#include "runtime/host_pressure.h"

namespace stowage {

Machine host_machine(Bytes device_memory) {
  const Bytes memory = host_memory_size();
  const Link link{{1'500'000'000}, {20'000}};
  Machine machine;
  machine.name = "host";
  machine.device = {device_memory, {}};
  machine.host = {memory, {memory.value / 2}, PinnedRounding::exact};
  machine.links = {link, link, link.rate};
  return machine;
}

}  // namespace stowage
