// What a host buffer takes once it is pinned.
#pragma once

#include <bit>
#include <cstdint>

#include "traces/error.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

// Where a view of a slab may begin: enough for every kernel and for every copy engine.
inline constexpr Bytes slab_alignment{256};

// `exact`: as asked for. `pow2`: the next power of two, as PyTorch's host allocator has it. `slab`: a view of
// a slab, which ends where the next one may begin; see slab_layout.h for the slabs themselves. Nothing takes
// nothing. Throws InputError where 63 bits do not hold it.
inline Bytes pinned_size(Bytes bytes, PinnedRounding rounding) {
  if (rounding == PinnedRounding::exact || bytes == Bytes{}) return bytes;
  const auto size = static_cast<std::uint64_t>(bytes.value);
  const auto step = static_cast<std::uint64_t>(slab_alignment.value);
  const std::uint64_t rounded =
      rounding == PinnedRounding::pow2 ? std::bit_ceil(size) : (size + step - 1) / step * step;
  if (rounded >> 63) throw InputError("", "", "a pinned buffer would take more than 8 EiB");
  return {static_cast<std::int64_t>(rounded)};
}

}  // namespace stowage
