// What a block works in, by what a plan has it do.
#pragma once

#include <optional>

#include "plan/block_table.h"
#include "plan/plan.h"

namespace stowage {

// The figure of the scope that a block recomputes; absent where it recomputes none, or that one has none.
std::optional<Bytes> of_scope(const BlockDecision& decision, const ByScope<Bytes>& figures);

// Of the first forward pass.
Bytes first_workspace(const BlockRow& row, const BlockDecision& decision);
// Of a recomputation.
Bytes second_workspace(const BlockRow& row, const BlockDecision& decision);
// Of one step of a block whose layers stream: while a layer runs, or none of them. Absent: as of the block.
std::optional<Bytes> step_workspace(const BlockTable& table, std::uint32_t block,
                                    std::optional<std::uint32_t> layer);
// Whether a recomputation holds the block's output, too, beside its workspace: where a scope was measured by
// itself it does not.
bool makes_output_again(const BlockRow& row, const BlockDecision& decision);

}  // namespace stowage
