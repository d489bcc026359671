// A half-open range of indices.
#pragma once

#include <cstdint>

namespace stowage {

struct Range {
  std::uint32_t begin = 0, end = 0;

  std::uint32_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

}  // namespace stowage
