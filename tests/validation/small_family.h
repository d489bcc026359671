// Families whose sums fit on a line: four blocks, each with an input of 100 bytes.
#pragma once

#include "validation/families.h"

namespace stowage::tests {

// Batch 1, one byte a number, 10 tokens of width 10. Without attention or feed-forward it would keep nothing;
// a feed-forward part of `ffn_width` makes it keep 10 * ffn_width bytes by the shape.
inline BlockGroup small_group(std::string name, std::int64_t blocks, std::int64_t ffn_width = 10) {
  BlockGroup group;
  group.name = std::move(name);
  group.blocks = blocks;
  group.shape.width = 10;
  group.shape.image_tokens = 10;
  group.shape.ffn_width = ffn_width;
  return group;
}

inline Family small_family(Segmenting segmenting) {
  Family family;
  family.name = "small";
  family.activation_bytes = 1;
  family.segmenting = segmenting;
  family.groups = {small_group("blocks", 4)};
  return family;
}

}  // namespace stowage::tests
