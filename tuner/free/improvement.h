// Makes a plan better, one change at a time, as long as the simulator says so.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "plan/block_table.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/free/change.h"
#include "tuner/free/draft.h"
#include "tuner/pricer.h"
#include "tuner/tuner.h"

namespace stowage {

// How good a plan is under a budget. Less is better: first that it fits, then that it is fast, then small.
struct Merit {
  Bytes excess;  // over the budgets, summed
  Nanos step;
  Bytes device, host;

  auto operator<=>(const Merit&) const = default;
};

Merit merit_of(const Run& run, const Budget& budget);

// Not shared between threads: reuses its memory.
class Improvement {
 public:
  // `cancelled`, unless empty, is asked every few plans priced: see FreeRequest.
  Improvement(const BlockTable& table, const Machine& machine, const Budget& budget,
              std::function<bool()> cancelled = {});

  // Tries what a block or the transfers may do otherwise, and blocks of one kind that exchange what they do,
  // of short chains two changes at once; takes each change that is for the better. Where nothing is, changes
  // some at random and begins again from there, until `tries` plans are priced. Stops where a plan that fits
  // takes no longer than `enough`. Returns the merit of what `draft` has become. Cost: a simulation a try.
  Merit improve(Draft& draft, std::int64_t tries, Nanos enough);

  Merit price(Draft& draft);
  const Run& run() const { return run_; }  // of the plan priced last
  std::int64_t priced() const { return priced_; }
  bool cancelled() const { return is_cancelled_; }
  // Whether two blocks may exchange what they do.
  bool one_kind(std::uint32_t a, std::uint32_t b) const { return kinds_[a] == kinds_[b]; }

 private:
  template <class Change>
  bool attempt(const Change& change);
  void climb();
  void kick(Draft& draft);
  bool try_changes();
  bool try_pairs();
  bool exchange_with_later(std::uint32_t block);
  bool finished() const;

  const BlockTable& table_;
  const Budget budget_;
  Pricer pricer_;
  const std::vector<std::uint32_t> kinds_;  // of each block the first of its kind
  std::vector<Change> changes_;
  std::mt19937_64 dice_{1};
  Run run_;
  std::int64_t priced_ = 0, last_try_ = 0;
  const std::function<bool()> cancelled_;
  bool is_cancelled_ = false;
  Nanos enough_;
  Draft* draft_ = nullptr;
  Merit merit_;
};

}  // namespace stowage
