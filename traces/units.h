// Units as types: an integer count of nanoseconds or bytes, and the rate that turns one into the other.
//
// All figures that are compared are integers, so the same input gives the same bytes everywhere.
#pragma once

#include <compare>
#include <cstdint>

namespace stowage {

// A count of one unit. Quantities of different units do not mix.
template <class Unit>
struct Quantity {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t times) { return {a.value * times}; }
  constexpr Quantity operator-() const { return {-value}; }
};

struct NanosUnit;
struct BytesUnit;
using Nanos = Quantity<NanosUnit>;
using Bytes = Quantity<BytesUnit>;

// Bytes a second, at least 1.
struct Rate {
  std::int64_t bytes_per_second = 1;

  auto operator<=>(const Rate&) const = default;
  // ceil(bytes / rate). Throws InputError where the result does not fit (more than 292 years).
  Nanos time_for(Bytes bytes) const;
};

}  // namespace stowage
