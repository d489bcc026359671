// The changes from which a plan is improved.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/block_table.h"
#include "tuner/free/draft.h"

namespace stowage {

struct Change {
  enum class Kind : std::uint8_t {
    keep,
    keep_all_away,  // with all its tensors on the host
    recompute,
    recompute_scope,  // `which`
    toggle_join,
    toggle_input,
    toggle_storage,  // `which`
    toggle_weights,
    add_prefetch,  // `which`, which may be negative
    toggle_h2d_streams,
    toggle_d2h_streams,
  };

  Kind kind;
  std::uint32_t block = 0;
  std::int32_t which = 0;

  // What cannot be is left as it is.
  void apply(Draft& draft, const BlockTable& table) const;
};

// All of one block, and all of the transfers.
std::vector<Change> changes_of(const BlockTable& table, std::uint32_t block);
std::vector<Change> changes_of_transfers();

}  // namespace stowage
