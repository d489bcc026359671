#include "runtime/host_pressure.h"

#include <unistd.h>

#include <fstream>
#include <utility>

namespace stowage {

std::optional<Bytes> available_host_memory(const std::string& file) {
  std::ifstream lines(file);
  for (std::string name; lines >> name; lines.ignore(256, '\n'))
    if (std::int64_t kibibytes; name == "MemAvailable:" && lines >> kibibytes) return Bytes{kibibytes << 10};
  return {};
}

Bytes host_memory_size() {
  return {static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE)};
}

HostMemorySource watched(HostMemorySource source, HostPressure pressure) {
  const auto allows = [pressure](Bytes wanted) {
    if (wanted < pressure.overlooked) return true;
    const std::optional<Bytes> available = pressure.available();
    return !available || wanted + pressure.spare <= *available;
  };
  return {[allows, take = std::move(source.take)](std::size_t bytes) {
            return allows({static_cast<std::int64_t>(bytes)}) ? take(bytes) : nullptr;
          },
          std::move(source.give_back)};
}

}  // namespace stowage
