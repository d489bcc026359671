#include "traces/units.h"

#include <limits>

#include "traces/error.h"

namespace stowage {

Nanos Rate::time_for(Bytes bytes) const {
  __extension__ using Wide = __int128;
  const Wide scaled = static_cast<Wide>(bytes.value) * 1'000'000'000 + (bytes_per_second - 1);
  const Wide nanos = scaled / bytes_per_second;
  if (nanos > std::numeric_limits<std::int64_t>::max())
    throw InputError(
        "", "bytes_per_second",
        std::to_string(bytes_per_second) + " is too slow for " + std::to_string(bytes.value) + " bytes");
  return {static_cast<std::int64_t>(nanos)};
}

}  // namespace stowage
