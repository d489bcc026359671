// What a pool of pinned host buffers has done, as JSON.
#pragma once

#include "plan/pinned_buckets.h"
#include "traces/json.h"

namespace stowage {

// `pinned_pool`: the counts of all buckets together, and of each, the busiest first.
void write_pool(JsonWriter& json, const PinnedReport& pool);

}  // namespace stowage
