// Machines and settings to try, drawn from a seed: every part of both that the runtime knows comes up.
#pragma once

#include <cstdint>
#include <random>

#include "plan/settings.h"
#include "profiler/host_machine.h"
#include "traces/machine.h"

namespace stowage::benchmarks {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  // Roundings take turns, and every other machine has copies that slow each other.
  Machine machine(int index, Bytes device_memory) {
    Machine drawn = host_machine(device_memory);
    drawn.name = "machine " + std::to_string(index + 1);
    drawn.host.pinned_rounding = static_cast<PinnedRounding>(index % 3);
    drawn.links.pageable.bytes_per_second = 500'000'000 * among(1, 2);
    if (index % 2 == 0) drawn.links.duplex = 0.5 + 0.1 * static_cast<double>(among(0, 3));
    if (among(0, 1) == 1) drawn.links.h2d.duplex = 0.5;
    if (among(0, 2) == 0) drawn.links.compute_slowdown = 0.1;
    if (among(0, 1) == 1) drawn.links.d2h.curve = {{{1 << 16}, {600'000'000}}, {{1 << 20}, {1'200'000'000}}};
    drawn.host.pinning = {Nanos{50'000} * among(1, 4), Rate{1'000'000'000 * among(1, 2)}};
    return drawn;
  }

  // Policies take turns; everything else is drawn. Swapped weights come back changed where they are trained.
  Settings settings(int index, std::int64_t blocks, SwapMode mode) {
    Settings drawn;
    drawn.policy = static_cast<Policy>(index % 4);
    if (drawn.policy == Policy::recompute || drawn.policy == Policy::recompute_offload) {
      drawn.interval = among(1, 4);
      drawn.stride = drawn.interval + among(0, 2);
      if (among(0, 2) == 0) drawn.segmenting = Segmenting::every_nth;
    }
    if (drawn.policy == Policy::offload && among(0, 2) > 0) drawn.scope = static_cast<Scope>(among(0, 1));
    if (index > 0 && among(0, 1) == 1)
      drawn.swap = {among(1, blocks - 1), static_cast<SwapWhich>(among(0, 2)), mode};
    drawn.transfer.prefetch = among(0, 3);
    drawn.transfer.h2d_streams = among(1, 2);
    drawn.transfer.d2h_streams = among(1, 2);
    if (among(0, 1) == 1) drawn.transfer.max_buckets = among(0, 4);
    return drawn;
  }

  // Of what the plan would pin, half the time a part that it may.
  std::optional<Bytes> pinned_max(Bytes wanted) {
    if (wanted == Bytes{} || among(0, 1) == 0) return {};
    return Bytes{wanted.value / 10 * among(3, 9)};
  }

 private:
  std::int64_t among(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  std::mt19937_64 random_;
};

}  // namespace stowage::benchmarks
