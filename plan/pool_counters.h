// The counters of a pool of pinned host buffers, as every timeline names them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plan/pinned_buckets.h"

namespace stowage {

// Of the pool since it was made.
void count_pool(const PinnedReport& pool, std::map<std::string, std::int64_t>& counters);

}  // namespace stowage
