#include "runtime/pinned_limit.h"

#include <vector>

namespace stowage {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr Bytes probe_step{256 * mebibyte};

}  // namespace

Bytes probe_pinned_limit(const HostMemorySource& source, Bytes most) {
  std::vector<void*> pinned;
  Bytes total;
  while (total + probe_step <= most) {
    void* const step = source.take(static_cast<std::size_t>(probe_step.value));
    if (!step) break;
    pinned.push_back(step);
    total += probe_step;
  }
  for (void* step : pinned) source.give_back(step);
  return {total.value / 5 * 4 / mebibyte * mebibyte};
}

}  // namespace stowage
