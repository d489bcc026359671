// Published measurements of where weights lie once a model is loaded with some of its blocks on the host:
// bytes on the device, bytes on the host, and what the host allocator locks for them, which rounds every
// tensor up to a power of two.
#pragma once

#include <string>
#include <vector>

#include "validation/published_check.h"

namespace stowage {

struct WeightsRow {
  std::string label;
  std::int64_t blocks = 1, swapped = 0;
  std::vector<Bytes> tensors;  // of one block
  Bytes device, host, locked;

  bool operator==(const WeightsRow&) const = default;
};

// Columns label, blocks, swapped, tensors_mib ("96;36"), device_gib, host_gib and locked_gib. Throws
// InputError with line and column.
std::vector<WeightsRow> parse_weights(const std::string& text);

// The first row of a label says what else is on the device; the others are predicted with it.
PublishedCheck check_weights(const std::vector<WeightsRow>& rows);

}  // namespace stowage
