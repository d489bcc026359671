// Looks for the best pattern under a budget: one number after another, as long as the simulator says that it
// is for the better.
#pragma once

#include <functional>
#include <vector>

#include "tuner/free/improvement.h"
#include "tuner/free/pattern.h"

namespace stowage {

// Calls `found` with the best pattern reached from each of a few begins: all kept, half of each part away,
// all recomputed, spread over each part; and half away, one after another. What is over the budgets has a
// price for a byte (see walk.h) that rises until the pattern fits. Cost: some hundred simulations a begin and
// part.
void search_patterns(const BlockTable& table, Improvement& pricing, double excess_price, const Draft& base,
                     const std::function<void(const Merit&, Draft)>& found);

}  // namespace stowage
