// Keeps what a recording claims within what 64 bits can add up.
#pragma once

#include <cstdint>

namespace stowage {

// Admits figures, nanoseconds or bytes of either sign, each below 2^50 (13 days, a pebibyte), until their
// sizes sum up to 2^55. Whatever is then summed over any part of them fits, and a profile takes several such
// sums, up to 2^60.
class SumGuard {
 public:
  bool admit(std::int64_t figure) {
    constexpr std::int64_t each = std::int64_t{1} << 50, all = std::int64_t{1} << 55;
    if (figure <= -each || figure >= each) return false;
    const std::int64_t size = figure < 0 ? -figure : figure;
    if (size > all - sum_) return false;
    sum_ += size;
    return true;
  }

 private:
  std::int64_t sum_ = 0;
};

}  // namespace stowage
