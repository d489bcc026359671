// Bytes in use, by the budget that they count against.
#pragma once

#include "plan/pinned_size.h"
#include "plan/program.h"
#include "traces/error.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

struct Levels {
  Bytes device, host, host_activation, host_pinned, disk;

  bool operator==(const Levels&) const = default;
};

[[noreturn]] inline void refuse_sizes() {
  throw InputError("", "", "the sizes of this profile add up to more than 8 EiB");
}

inline bool is_activation(BufferKind kind) {
  return kind == BufferKind::saved || kind == BufferKind::activation;
}

// Throws InputError where the level passes what 63 bits hold.
inline void raise(Bytes& level, Bytes by) {
  if (__builtin_add_overflow(level.value, by.value, &level.value)) refuse_sizes();
}

// A buffer comes to life. Host memory that may be pinned is, unless it is said to be pageable.
inline void add(Levels& levels, const Buffer& buffer, PinnedRounding rounding, bool pageable = false) {
  if (buffer.space == Space::device) return raise(levels.device, buffer.bytes);
  if (buffer.space == Space::disk) return raise(levels.disk, buffer.bytes);
  raise(levels.host, buffer.bytes);
  if (is_pinnable(buffer) && !pageable) raise(levels.host_pinned, pinned_size(buffer.bytes, rounding));
  if (is_activation(buffer.kind)) raise(levels.host_activation, buffer.bytes);
}

// A buffer dies.
inline void remove(Levels& levels, const Buffer& buffer, PinnedRounding rounding, bool pageable = false) {
  if (buffer.space != Space::host) {
    (buffer.space == Space::device ? levels.device : levels.disk) -= buffer.bytes;
    return;
  }
  levels.host -= buffer.bytes;
  if (is_pinnable(buffer) && !pageable) levels.host_pinned -= pinned_size(buffer.bytes, rounding);
  if (is_activation(buffer.kind)) levels.host_activation -= buffer.bytes;
}

}  // namespace stowage
