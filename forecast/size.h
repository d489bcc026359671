// A family at another size than the one in the catalogue.
#pragma once

#include <cstdint>
#include <optional>

#include "validation/families.h"

namespace stowage {

struct SampleSize {
  // Of pictures: the side of a square of as many pixels.
  std::optional<std::int64_t> resolution = {}, frames = {};
  std::optional<std::int64_t> tokens = {};  // of sequences
  std::optional<std::int64_t> batch = {};
};

// Image tokens grow with pixels and frames; text tokens stay. Throws InputError naming the flag ("--frames")
// for a size that the family does not have.
Family sized(Family family, const SampleSize& size);

// How far two sizes of a family are apart: the logarithm of what enters their blocks, without sign.
double unlikeness(const Family& a, const Family& b);

}  // namespace stowage
