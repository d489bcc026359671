// Every plan of a chain so short that all of them can be priced.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/block_table.h"
#include "plan/plan.h"

namespace stowage {

// How many plans there are: each choice for each block, prefetch up to the number of blocks, one or several
// streams. `most` where they are that many or more.
std::int64_t count_plans(const BlockTable& table, std::int64_t most);

// Calls `visit` with each plan that check() allows; it may not keep the reference.
void visit_plans(const BlockTable& table, const std::function<void(const Plan&)>& visit);

}  // namespace stowage
