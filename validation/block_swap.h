// Published measurements of block swap against the simulator: frozen weights of every block on the host,
// loaded for each use while the block before it computes.
//
// Copies and kernels share the device's memory, so a copy slows what computes meanwhile. How much is the one
// figure that no shape tells; it is taken from the first row of a GPU that trains, and the other rows of that
// GPU are predicted with it. What is left of the first row after waiting for the link is thus explained, not
// predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/link_table.h"
#include "validation/published_check.h"

namespace stowage {

enum class SwapPass : std::uint8_t {
  training,  // forward, then every block again and backward, in reverse
  forward    // forward alone
};

struct SwapRow {
  std::string gpu, label;
  SwapPass pass = SwapPass::training;
  std::int64_t blocks = 1;
  Bytes block;              // its weights
  Nanos forward;            // of one block
  Nanos resident, swapped;  // of the whole pass: all weights on the device, all on the host
  std::optional<Bytes> resident_peak, swapped_peak;

  bool operator==(const SwapRow&) const = default;
};

// Columns gpu, label, pass, blocks, block_mib, forward_ms, resident_ms, swapped_ms, resident_gib,
// swapped_gib. Throws InputError with line and column.
std::vector<SwapRow> parse_swaps(const std::string& text);

// The machine, with compute slowed by copies just so much that the row comes out as measured; not at all
// where waiting alone explains more.
Machine contended(Machine machine, const SwapRow& row);

PublishedCheck check_swaps(const std::vector<SwapRow>& rows, const std::vector<LinkRow>& links);

}  // namespace stowage
