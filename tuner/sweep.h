// Goes through the plans of one shape after another and passes over those that a frontier covers.
#pragma once

#include <cstdint>
#include <functional>

#include "tuner/field.h"
#include "tuner/frontier.h"
#include "tuner/outlook.h"
#include "tuner/sketch.h"
#include "tuner/tuner.h"

namespace stowage {

// Not shared between threads: reuses its memory.
class Sweep {
 public:
  // What a plan takes, given what it takes at least.
  using Judge = std::function<Bound(const Standing& at_least)>;

  Sweep(const Field& field, const Budget& budget);

  // Offers the frontier every plan of the shape within the host and pinned budgets, as `judge` finds it,
  // unless a lower bound is covered already.
  void over(std::uint32_t shape, Frontier& frontier, const Judge& judge);

  std::int64_t considered() const { return considered_; }

 private:
  // Plans of one shape and swap.
  struct Pair {
    std::uint32_t shape_index, swap_index;
    const Shape& shape;
    const SwapChoice& swap;
    Bytes host;
    Bytes pinned_on_device;  // what this adds to the device's peak

    Bound bound(const Bound& of_device) const { return {of_device.step, of_device.peak + pinned_on_device}; }
    Standing standing(const Bound& figures, const IssueChoice& transfers) const {
      return {figures, host, {shape_index, swap_index, transfers}};
    }
  };
  // The transfers that make a difference.
  struct Variants {
    std::uint32_t most_prefetch;
    bool several_h2d, several_d2h;
  };

  Bytes on_device(Bytes pinned) const;
  Interest interest_in(const Pair& pair, const IssueChoice& simplest, const Bound& floor,
                       const Frontier& frontier) const;
  Variants variants_of(const Pair& pair) const;
  void over(const Pair& pair, Frontier& frontier, const Judge& judge);
  void over(const Pair& pair, std::uint32_t prefetch, const Variants& variants, const Bound& floor,
            Frontier& frontier, const Judge& judge);
  void over(const Pair& pair, const IssueChoice& transfers, const Bound& floor, Frontier& frontier,
            const Judge& judge);

  const Field& field_;
  Budget budget_;
  Outlook outlook_;
  Sketch sketch_;
  SwapUses uses_;
  std::int64_t considered_ = 0;
};

}  // namespace stowage
