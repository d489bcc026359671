// Plans of trainers that checkpoint some of the blocks, each by itself.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace stowage {

// Every n-th block, the n-th first: of eight by twos 1, 3, 5 and 7, counted from 0. With n = 0 or 1 all.
Plan every_nth_last(const BlockTable& table, std::int64_t n);
// All blocks as the policy says, with this prefetch.
Plan all_blocks(const BlockTable& table, Policy policy, std::int64_t prefetch = 0);

}  // namespace stowage
