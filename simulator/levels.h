// Bytes in use, by the budget that they count against.
#pragma once

#include <bit>
#include <cstdint>

#include "plan/program.h"
#include "traces/error.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

struct Levels {
  Bytes device, host, host_activation, host_pinned;

  bool operator==(const Levels&) const = default;
};

// What a host buffer takes once it is pinned.
inline Bytes pinned_size(Bytes bytes, PinnedRounding rounding) {
  switch (rounding) {
    case PinnedRounding::exact:
      return bytes;
    case PinnedRounding::pow2:
      if (bytes == Bytes{}) return bytes;  // nothing is allocated
      return {static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes.value)))};
    case PinnedRounding::slab:
      return {(bytes.value + 255) & ~std::int64_t{255}};
  }
  return bytes;
}

inline bool is_activation(BufferKind kind) {
  return kind == BufferKind::saved || kind == BufferKind::activation;
}

// Throws InputError where the level passes what 63 bits hold: the profile's sizes are absurd.
inline void raise(Bytes& level, Bytes by) {
  if (__builtin_add_overflow(level.value, by.value, &level.value) || by.value < 0)
    throw InputError("", "", "the sizes of this profile add up to more than 8 EiB");
}

// A buffer comes to life.
inline void add(Levels& levels, const Buffer& buffer, PinnedRounding rounding) {
  if (buffer.space == Space::device) return raise(levels.device, buffer.bytes);
  raise(levels.host, buffer.bytes);
  raise(levels.host_pinned, pinned_size(buffer.bytes, rounding));
  if (is_activation(buffer.kind)) raise(levels.host_activation, buffer.bytes);
}

// A buffer dies.
inline void remove(Levels& levels, const Buffer& buffer, PinnedRounding rounding) {
  if (buffer.space == Space::device) {
    levels.device -= buffer.bytes;
    return;
  }
  levels.host -= buffer.bytes;
  levels.host_pinned -= pinned_size(buffer.bytes, rounding);
  if (is_activation(buffer.kind)) levels.host_activation -= buffer.bytes;
}

}  // namespace stowage
