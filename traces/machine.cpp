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

Machine of_one_rank(const Machine& machine) {
  const std::int64_t count = machine.ranks.count;
  const std::optional<Rate> host = machine.ranks.host;
  if (count == 1) return machine;
  Machine one = machine;
  one.ranks = {};
  one.host.memory.value /= count;
  one.host.pinned_limit.value /= count;
  const auto slow_down = [&](Rate& rate, Rate given) {
    rate.bytes_per_second =
        std::min(rate.bytes_per_second, std::max<std::int64_t>(1, given.bytes_per_second / count));
  };
  for (Link* link : {&one.links.h2d, &one.links.d2h}) {
    const Rate given = host.value_or(link->rate);
    for (CurvePoint& point : link->curve) slow_down(point.rate, given);
    slow_down(link->rate, given);
  }
  slow_down(one.links.pageable, host.value_or(machine.links.h2d.rate));
  if (!one.disk) return one;
  one.disk->capacity.value /= count;
  for (Link* link : {&one.disk->read, &one.disk->write}) {
    for (CurvePoint& point : link->curve) slow_down(point.rate, link->rate);
    slow_down(link->rate, link->rate);
  }
  return one;
}

}  // namespace stowage
