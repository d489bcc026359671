// Which blocks' weights live on the host, and when a shape needs them back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/settings.h"
#include "traces/units.h"
#include "tuner/shape.h"

namespace stowage {

struct SwapChoice {
  SwapSettings settings;
  std::vector<std::uint32_t> blocks;  // ascending
  std::vector<Bytes> loaded;          // for each block of the chain: its weights if they are swapped, or 0
  Bytes resident;                     // weights that stay on the device
  Bytes host, pinned;
  Nanos load, longest_load;  // of all blocks once, and of one, without latency

  bool two_way() const { return settings.mode == SwapMode::two_way; }
};

// Compute steps, first to last, during which a swapped block's weights are on the device.
struct SwapUse {
  std::uint32_t block, first, last;
  std::optional<std::uint32_t> previous;  // use of the same block
};

// How a swap works out for a shape. Reuses its memory.
struct SwapUses {
  std::vector<SwapUse> uses;           // as they begin; two in a row of one block are one
  std::vector<std::uint32_t> by_last;  // the same as they end

  void list(const Shape& shape, const SwapChoice& swap);

 private:
  std::vector<std::uint32_t> latest_;  // use of each block that is swapped
};

}  // namespace stowage
