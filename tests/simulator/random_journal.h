// Random requests to an arena: sizes around every threshold of the caching allocator, a few of them again and
// again as a training step does, several streams, and buffers that another stream uses last.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/journal.h"

namespace stowage::tests {

// The same seed gives the same journal everywhere.
Journal random_journal(std::uint64_t seed);

}  // namespace stowage::tests
