#include "plan/slab_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "plan/pinned_size.h"

namespace stowage {
namespace {

Bytes next_power(Bytes bytes) {
  return pinned_size(bytes, PinnedRounding::pow2);
}

class SlabFiller {
 public:
  explicit SlabFiller(std::span<const Bytes> sizes) : left_(sizes.size()) {
    layout_.views.resize(sizes.size());
    for (const Bytes size : sizes) sizes_.push_back(pinned_size(size, PinnedRounding::slab));
    std::iota(left_.begin(), left_.end(), 0u);
    std::erase_if(left_, [&](std::uint32_t view) { return sizes_[view] == Bytes{}; });
    std::stable_sort(left_.begin(), left_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sizes_[a] > sizes_[b]; });
    Bytes payload, rounded;
    for (const Bytes size : sizes) payload += size;
    for (const Bytes size : sizes_) rounded += size;
    spare_ = Bytes{payload.value / 100 * 3} - (rounded - payload);
  }

  SlabLayout run() && {
    while (!left_.empty()) fill(choose());
    return std::move(layout_);
  }

 private:
  // What the slab would hold, the largest views first.
  Bytes filled(Bytes slab) const {
    Bytes used;
    for (const std::uint32_t view : left_)
      if (used + sizes_[view] <= slab) used += sizes_[view];
    return used;
  }

  Bytes choose() const {
    Bytes left;
    for (const std::uint32_t view : left_) left += sizes_[view];
    const Bytes least = next_power(sizes_[left_.front()]);
    Bytes best, best_filled;
    for (Bytes slab = next_power(left); slab >= least; slab = {slab.value / 2}) {
      const Bytes used = filled(slab);
      if (slab - used <= spare_) return slab;
      const double share = static_cast<double>(used.value) / static_cast<double>(slab.value);
      if (best == Bytes{} ||
          share > static_cast<double>(best_filled.value) / static_cast<double>(best.value)) {
        best = slab;
        best_filled = used;
      }
    }
    return best;
  }

  void fill(Bytes slab) {
    const auto index = static_cast<std::uint32_t>(layout_.slabs.size());
    layout_.slabs.push_back(slab);
    Bytes used;
    std::erase_if(left_, [&](std::uint32_t view) {
      if (used + sizes_[view] > slab) return false;
      layout_.views[view] = {index, used};
      used += sizes_[view];
      return true;
    });
    spare_ -= slab - used;
  }

  std::vector<Bytes> sizes_;  // rounded
  std::vector<std::uint32_t> left_;
  SlabLayout layout_;
  Bytes spare_;  // what slabs may still waste
};

}  // namespace

Bytes SlabLayout::total() const {
  return std::accumulate(slabs.begin(), slabs.end(), Bytes{});
}

SlabLayout lay_out_slabs(std::span<const Bytes> sizes) {
  return SlabFiller(sizes).run();
}

}  // namespace stowage
