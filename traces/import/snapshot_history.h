// One device's part of a snapshot's history: a log of memory operations, and the blocks in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/import/forward_loops.h"
#include "traces/import/memory_log.h"
#include "traces/import/snapshot.h"
#include "traces/import/snapshot_reruns.h"

namespace stowage {

struct SnapshotHistory {
  std::int64_t device = 0;           // the one with the most entries
  std::vector<MemoryOperation> log;  // allocations, and frees once they are complete; owners are blocks
  std::vector<SnapshotPass> passes;  // in time order
  SnapshotReruns again;              // of a checkpointed run
  std::size_t blocks = 0;
  bool timed = false;              // else all times are 0
  std::int64_t out_of_memory = 0;  // times that an allocation failed
};

// Finds the blocks by the lines in allocations' stacks: those of the forwards or, with `pattern`, a regular
// expression, those of the outermost frames that match it as "model.py:382:forward". A forward within a frame
// named "backward", or that unpacks what the forward packed, is one that ran again. `snapshot` is only read.
// Throws InputError if the pattern is none.
SnapshotHistory history_of(const Snapshot& snapshot, const std::optional<std::string>& pattern);

// The bytes held by the allocator's segments over time, which are `end` after the last entry.
std::vector<MemorySample> reserved_curve(const std::vector<SnapshotEntry>& entries, Bytes end);

}  // namespace stowage
