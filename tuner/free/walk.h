// Makes the plan of a long chain better by a walk: random changes, each taken unless it makes the plan much
// worse, and less and less worse as the walk goes on.
//
// On its way it passes through plans that do not fit, at a price for each byte over the budgets: between two
// plans that fit and are one swap and ten joined segments apart, nothing else lies. (Threshold accepting,
// Dueck and Scheuer 1990.)
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plan/block_table.h"
#include "tuner/free/change.h"
#include "tuner/free/draft.h"
#include "tuner/free/improvement.h"

namespace stowage {

// What a byte over the budgets costs, in nanoseconds: as much as to load it twice.
double price_of_excess(const BlockTable& table, const Machine& machine);

// A step, and what is over the budgets at a price.
double cost_of(const Merit& merit, double excess_price);

class Walk {
 public:
  Walk(const BlockTable& table, Improvement& pricing, double excess_price);

  // `draft` becomes the best of what the walk comes by, itself included. Returns its merit. Cost: `tries`
  // simulations, fewer where a change changes nothing or a plan that fits takes no longer than `enough`.
  Merit improve(Draft& draft, std::int64_t tries, Nanos enough);

 private:
  void change(Draft& draft);
  static void recompute_instead(Draft& draft, std::uint32_t a, std::uint32_t b);
  void change_one(Draft& draft, std::uint32_t block);
  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(dice_() % count); }

  const BlockTable& table_;
  Improvement& pricing_;
  const double excess_price_;
  std::vector<std::vector<Change>> of_blocks_;
  const std::vector<Change> of_transfers_ = changes_of_transfers();
  std::mt19937_64 dice_{1};
};

}  // namespace stowage
