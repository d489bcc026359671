#include "runtime/memory_pool.h"

namespace stowage {

std::string Refusal::text() const {
  return std::string(space == Space::device ? "device" : "host") + " memory: requested " +
         std::to_string(requested.value) + " B, live " + std::to_string(live.value) + " B, budget " +
         std::to_string(budget.value) + " B";
}

MemoryRefused::MemoryRefused(const Refusal& refusal)
    : c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, refusal.text()), refusal_(refusal) {}

}  // namespace stowage
