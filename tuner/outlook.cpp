#include "tuner/outlook.h"

#include <algorithm>

#include "tuner/copy_lane.h"

namespace stowage {
namespace {

// With several streams, which is never later than with one. Rates that are shared make everything later but
// may spare a latency, so it is left out; it is small beside a load.
Nanos forward_end(const BlockTable& table, const CopyCosts& costs, const SwapChoice& swap,
                  std::uint32_t prefetch) {
  CopyLane h2d;
  std::vector<Nanos> begins;  // of uses
  Nanos now = table.fixed.prologue, compute = now;
  for (std::uint32_t i = 0, use = 0; i < table.size(); ++i) {
    if (use < swap.blocks.size() && swap.blocks[use] == i) {
      const Nanos issue = prefetch == 0 ? now : use < prefetch ? Nanos{} : begins[use - prefetch];
      now = std::max(now, h2d.copy(issue, costs.weights[i].restore));
      begins.push_back(now);
      ++use;
    }
    now += table.rows[i].forward;
    compute += table.rows[i].forward;
  }
  return std::max(now, compute + costs.loss(swap.load));
}

}  // namespace

ForwardTimes::ForwardTimes(const BlockTable& table, const CopyCosts& costs,
                           const std::vector<SwapChoice>& swaps, std::uint32_t max_prefetch) {
  for (const SwapChoice& swap : swaps) {
    std::vector<Nanos>& ends = ends_.emplace_back();
    for (std::uint32_t prefetch = 0; prefetch <= max_prefetch; ++prefetch)
      ends.push_back(forward_end(table, costs, swap, prefetch));
    least_.push_back(*std::min_element(ends.begin(), ends.end()));
  }
}

// The step is no shorter than
//   - what the shape takes at least;
//   - the compute, with what it loses to all that h2d carries: all restores, and each swapped block twice,
//     but for the last block, whose two uses may be one;
//   - the forward pass and what is left after it: the rest of the compute, or what h2d carries after it and
//     the compute from the last need on. That is all restores, none of which is issued before, and the loads
//     of the backward pass, but for those that are issued ahead and the one of a use that goes on from the
//     forward pass.
// The peak is no lower than at any step that takes time, when that step's own weights are there.
Bound Outlook::at_a_glance(const Shape& shape, const SwapChoice& swap, Nanos least_forward_end,
                           std::uint32_t max_prefetch) const {
  Nanos late = shape.restore, carried = shape.restore;
  std::uint32_t last_need = shape.parcels.empty() ? shape.epilogue : shape.parcels.front().needed;
  if (!swap.blocks.empty()) {
    const Nanos once = costs_.weights[swap.blocks.back()].restore;
    carried += swap.load * 2 - once;
    late += std::max(Nanos{}, swap.load - once - swap.longest_load * max_prefetch);
    last_need = std::max(last_need, shape.blocks[swap.blocks.front()].backward);
  }
  const Nanos left =
      std::max(shape.compute_from[shape.epilogue] + costs_.loss(late), late + shape.compute_from[last_need]);
  Bytes level = shape.fixed_floor;
  for (std::size_t i = 0; i < shape.blocks.size(); ++i)
    level = std::max(level, shape.blocks[i].floor + swap.loaded[i]);
  return {std::max({shape.least_step, shape.compute + costs_.loss(carried), least_forward_end + left}),
          swap.resident + level};
}

void Outlook::look_at(const Shape& shape, const SwapChoice& swap, const SwapUses& uses) {
  shape_ = &shape;
  swap_ = &swap;
  uses_ = &uses;
  load_bytes_.assign(1, {});
  loads_.assign(1, {});
  forward_uses_ = 0;
  for (const SwapUse& use : uses.uses) {
    load_bytes_.push_back(load_bytes_.back() + swap.loaded[use.block]);
    loads_.push_back(loads_.back() + costs_.weights[use.block].restore);
    if (use.first < shape.epilogue) ++forward_uses_;
  }
  parcel_bytes_.assign(1, {});
  for (auto parcel = shape.parcels.rbegin(); parcel != shape.parcels.rend(); ++parcel)
    parcel_bytes_.push_back(parcel_bytes_.back() + parcel->bytes);
  list_stretches();
}

void Outlook::list_stretches() {
  const std::vector<SwapUse>& uses = uses_->uses;
  const auto parcel_count = static_cast<std::uint32_t>(shape_->parcels.size());
  std::uint32_t begun = 0, ended = 0, needed = 0;
  Bytes in_use = swap_->resident;
  stretches_.assign(1, {0, parcel_count, {}});  // no restore is issued before the epilogue
  for (std::uint32_t k = 0; k < shape_->steps.size(); ++k) {
    const bool begins = begun < uses.size() && uses[begun].first == k;
    const bool needs = needed < parcel_count && shape_->parcels[parcel_count - 1 - needed].needed == k;
    if (begins) in_use += swap_->loaded[uses[begun++].block];
    if (needs) ++needed;
    if (begins || needs || k == shape_->epilogue)
      stretches_.push_back({begun, k < shape_->epilogue ? parcel_count : needed, {}});
    Bytes& level = stretches_.back().level;
    if (shape_->steps[k].duration > Nanos{}) level = std::max(level, shape_->steps[k].floor + in_use);
    if (ended < uses.size() && uses[uses_->by_last[ended]].last == k)
      in_use -= swap_->loaded[uses[uses_->by_last[ended++]].block];
  }
}

// The peak: when u uses have begun, the loads of the next `prefetch` ones have been issued, and their weights
// stay until uses that have not begun. The same holds for parcels.
Bound Outlook::with(std::uint32_t prefetch, Nanos forward_end) const {
  Bytes peak;
  const auto ahead = [&](const std::vector<Bytes>& first, std::uint32_t passed) {
    return first[std::min<std::size_t>(passed + prefetch, first.size() - 1)] - first[passed];
  };
  for (const Stretch& stretch : stretches_)
    peak = std::max(peak, stretch.level + ahead(load_bytes_, stretch.uses_begun) +
                              ahead(parcel_bytes_, stretch.parcels_needed));
  return {step_with(prefetch, forward_end), peak};
}

// Without prefetch the compute lane waits for every copy in full: it is issued when compute has come to the
// step, and those before it have been waited for.
//
// With prefetch d, load k is issued when use k-d begins. So after the forward pass h2d carries all restores,
// and the loads of backward uses but for the first d. Those loads alone come after the begin of the first
// backward use.
Nanos Outlook::step_with(std::uint32_t prefetch, Nanos forward_end) const {
  const std::vector<SwapUse>& uses = uses_->uses;
  const std::vector<Nanos>& left = shape_->compute_from;
  const Nanos after_forward = left[shape_->epilogue];
  Nanos step = std::max(shape_->least_step, forward_end + after_forward);
  if (prefetch == 0) return std::max(step, shape_->compute + loads_.back() + shape_->restore);

  const std::size_t late = std::min<std::size_t>(forward_uses_ + prefetch, uses.size());
  const Nanos late_loads = loads_.back() - loads_[late];
  step = std::max(step, forward_end + after_forward + costs_.loss(shape_->restore + late_loads));
  std::uint32_t last_need = shape_->parcels.empty() ? shape_->epilogue : shape_->parcels.front().needed;
  if (late < uses.size()) {
    const std::uint32_t last_use = uses.back().first;
    const Nanos first_use = forward_end + after_forward - left[uses[forward_uses_].first];
    step = std::max(step, first_use + late_loads + left[last_use]);
    last_need = std::max(last_need, last_use);
  }
  return std::max(step, forward_end + shape_->restore + late_loads + left[last_need]);
}

}  // namespace stowage
