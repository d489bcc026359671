// Figures as tables of measurements print them: seconds and GiB.
#pragma once

#include <cmath>

#include "traces/units.h"

namespace stowage {

inline constexpr double nanos_per_second = 1e9;
inline constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

inline Nanos nanos_of(double seconds) {
  return Nanos{std::llround(seconds * nanos_per_second)};
}
inline Bytes bytes_of(double gib) {
  return Bytes{std::llround(gib * bytes_per_gib)};
}
inline double seconds_of(Nanos nanos) {
  return static_cast<double>(nanos.value) / nanos_per_second;
}
inline double gib_of(Bytes bytes) {
  return static_cast<double>(bytes.value) / bytes_per_gib;
}

}  // namespace stowage
