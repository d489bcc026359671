// Lower bounds for a shape with a swap, a few operations each: asked before a sketch is drawn.
//
// Terms: the forward pass ends where the epilogue begins. Loads and restores share the h2d lane, which takes
// them one at a time in the order of issue. A copy that a step needs ends before the step begins, so that
// after it at least the compute from that step on is left.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "tuner/copy_costs.h"
#include "tuner/shape.h"
#include "tuner/sketch.h"
#include "tuner/swap_choice.h"

namespace stowage {

// When the forward pass of each swap ends at the earliest, for each prefetch distance. All shapes compute
// the same forward pass, and in it only weights come from the host, so it is found once for all of them.
class ForwardTimes {
 public:
  ForwardTimes(const BlockTable& table, const CopyCosts& costs, const std::vector<SwapChoice>& swaps,
               std::uint32_t max_prefetch);

  Nanos end(std::uint32_t swap, std::uint32_t prefetch) const { return ends_[swap][prefetch]; }
  // Whatever the prefetch.
  Nanos least_end(std::uint32_t swap) const { return least_[swap]; }

 private:
  std::vector<std::vector<Nanos>> ends_;
  std::vector<Nanos> least_;
};

class Outlook {
 public:
  explicit Outlook(const CopyCosts& costs) : costs_(costs) {}

  // Whatever the transfers. Cost: linear in the blocks.
  Bound at_a_glance(const Shape& shape, const SwapChoice& swap, Nanos least_forward_end,
                    std::uint32_t max_prefetch) const;

  // Whatever the streams, for this shape and swap from here on. Cost: linear in the compute steps.
  void look_at(const Shape& shape, const SwapChoice& swap, const SwapUses& uses);
  // Cost: linear in what travels.
  Bound with(std::uint32_t prefetch, Nanos forward_end) const;

 private:
  // Consecutive compute steps before which the same uses have begun and the same parcels were needed.
  struct Stretch {
    std::uint32_t uses_begun, parcels_needed;
    Bytes level;  // the highest, with no more aboard than is in use
  };

  Nanos step_with(std::uint32_t prefetch, Nanos forward_end) const;
  void list_stretches();

  const CopyCosts& costs_;
  const Shape* shape_ = nullptr;
  const SwapChoice* swap_ = nullptr;
  const SwapUses* uses_ = nullptr;
  std::vector<Stretch> stretches_;
  std::vector<Bytes> load_bytes_, parcel_bytes_;  // of the first uses, and of the first parcels to return
  std::vector<Nanos> loads_;                      // of the first uses
  std::uint32_t forward_uses_ = 0;
};

}  // namespace stowage
