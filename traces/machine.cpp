#include "traces/machine.h"

#include <algorithm>

#include "traces/error.h"

namespace stowage {
namespace {

// ceil(time * part / whole); `part` is at most `whole`.
Nanos share_of(Nanos time, Bytes part, Bytes whole) {
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(time.value) * part.value + (whole.value - 1);
  return {static_cast<std::int64_t>(product / whole.value)};
}

}  // namespace

Nanos Link::time_for(Bytes bytes) const {
  const auto above = std::lower_bound(curve.begin(), curve.end(), bytes,
                                      [](const CurvePoint& point, Bytes size) { return point.bytes < size; });
  if (above == curve.begin()) return (curve.empty() ? rate : above->rate).time_for(bytes);
  const CurvePoint& below = above[-1];
  Nanos time = below.rate.time_for(below.bytes);
  const Nanos rest = above == curve.end() ? rate.time_for(bytes - below.bytes)
                                          : share_of(above->rate.time_for(above->bytes) - time,
                                                     bytes - below.bytes, above->bytes - below.bytes);
  if (__builtin_add_overflow(time.value, rest.value, &time.value))
    throw InputError("", "bytes_per_second", "too slow for " + std::to_string(bytes.value) + " bytes");
  return time;
}

}  // namespace stowage
