#include "simulator/outcome.h"

namespace stowage {

Bytes Peaks::in(MemorySpace space) const {
  switch (space) {
    case MemorySpace::device:
      return on_device();
    case MemorySpace::host:
      return host;
    case MemorySpace::pinned:
      return host_pinned;
    case MemorySpace::disk:
      return disk;
  }
  return {};
}

}  // namespace stowage
