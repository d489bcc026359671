#include "plan/state_memory.h"

#include <algorithm>

namespace stowage {

StateMemory state_memory(const std::vector<Bytes>& sizes, const std::vector<Bytes>& handed_on) {
  StateMemory memory;
  memory.own.resize(sizes.size());
  std::vector<SharedPart> open;  // of the state at hand, the oldest first
  const auto close = [&](const SharedPart& part, Bytes bytes) {
    if (part.first == part.last)
      memory.own[part.first] += bytes;
    else if (bytes > Bytes{})
      memory.shared.push_back({part.first, part.last, bytes});
  };
  for (std::uint32_t state = 0; state < sizes.size(); ++state) {
    Bytes stays = state > 0 ? handed_on[state - 1] : Bytes{};
    const Bytes fresh = sizes[state] - stays;
    std::vector<SharedPart> next;
    for (const SharedPart& part : open) {
      const Bytes of_both = std::min(part.bytes, stays);
      stays -= of_both;
      close(part, part.bytes - of_both);
      if (of_both > Bytes{}) next.push_back({part.first, state, of_both});
    }
    next.push_back({state, state, fresh});
    open.swap(next);
  }
  for (const SharedPart& part : open) close(part, part.bytes);
  return memory;
}

StateMemory state_memory_backwards(std::vector<Bytes> sizes, std::vector<Bytes> handed_on) {
  std::reverse(sizes.begin(), sizes.end());
  std::reverse(handed_on.begin(), handed_on.end());
  StateMemory memory = state_memory(sizes, handed_on);
  const auto last = static_cast<std::uint32_t>(sizes.size()) - 1;
  std::reverse(memory.own.begin(), memory.own.end());
  for (SharedPart& part : memory.shared) part = {last - part.first, last - part.last, part.bytes};
  return memory;
}

}  // namespace stowage
