// The settings among which a search chooses.
//
// Every combination of policy, interval, stride, segmenting, scope, swap count, which and mode, prefetch
// distance and streams, within these limits. Two kinds of combination are left out by definition:
//   - Swapped weights that do not change have nothing to store, and weights that change must be stored: the
//     mode is `h2d` where every swapped block is frozen and `two-way` otherwise. A block is frozen where its
//     backward leaves less gradient than the block has weights.
//   - Of long chains (more than some 68 blocks) not every interval, stride and count: small ones all, larger
//     ones some percent apart (see list_values), so that the time of a search grows no faster than the chain.
//     The best of these is then improved, one value at a time.
//   - Limits on pinned buffers stay as the base settings have them. Plans whose host buffers may not all be
//     pinned are left out: pageable copies hold compute.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/settings.h"

namespace stowage {

struct SettingsSpace {
  // Beside `keep`, which always belongs to the space.
  std::vector<Policy> policies{Policy::recompute, Policy::offload, Policy::recompute_offload};
  std::vector<Segmenting> segmentings{Segmenting::contiguous, Segmenting::every_nth};
  std::optional<std::int64_t> max_swap_blocks;  // absent: all but one
  std::int64_t max_prefetch = 4;
  std::int64_t max_streams = 2;  // of each direction; a third stream changes nothing
};

// Whether a swap of these blocks may drop their weights after use.
bool is_frozen(const BlockRow& row);
// Where a swap puts the block's weights: dropped after use, or stored where they change.
Residence swapped(const BlockRow& row);

}  // namespace stowage
