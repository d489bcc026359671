// Places many host buffers in few slabs, each a power of two: what a host allocator that rounds to powers of
// two gives away for single buffers, it does not for slabs.
//
//   slab 0 |view|view  |view|....|   slab 1 |view |.|      . what no view fits into
//          ^0   ^256 n
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/units.h"

namespace stowage {

struct SlabView {
  std::uint32_t slab;
  Bytes offset;  // a multiple of slab_alignment

  bool operator==(const SlabView&) const = default;
};

struct SlabLayout {
  std::vector<Bytes> slabs;     // powers of two
  std::vector<SlabView> views;  // as the sizes were given; views of nothing lie at offset 0 of slab 0

  Bytes total() const;
};

// Slabs as large as they may be while all of them take no more than 1.03 times the views together; where no
// slab can be chosen so (few views, and larger than the rest) the one that wastes the smallest part of
// itself. Views of one slab do not overlap. Cost: views times slabs.
SlabLayout lay_out_slabs(std::span<const Bytes> sizes);

}  // namespace stowage
