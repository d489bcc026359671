// One device's part of a snapshot's history: a log of memory operations, and the blocks in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/import/forward_loops.h"
#include "traces/import/memory_log.h"
#include "traces/import/snapshot.h"

namespace stowage {

// A block at work in the forward of one step: operations [first, last) of the log.
struct SnapshotPass {
  std::uint32_t block;  // dense, in the order of first execution
  std::size_t step;
  std::size_t first, last;
};

struct SnapshotHistory {
  std::int64_t device = 0;           // the one with the most entries
  std::vector<MemoryOperation> log;  // allocations, and frees once they are complete; owners are blocks
  std::vector<SnapshotPass> passes;  // in time order
  std::size_t blocks = 0;
  bool timed = false;              // else all times are 0
  std::int64_t out_of_memory = 0;  // times that an allocation failed
};

// Finds the blocks by the lines in allocations' stacks: those of the forwards or, with `pattern`, a regular
// expression, those of the outermost frames that match it as "model.py:382:forward". `snapshot` is only
// read. Throws InputError if the pattern is none.
SnapshotHistory history_of(const Snapshot& snapshot, const std::optional<std::string>& pattern);

// The bytes held by the allocator's segments over time, which are `end` after the last entry.
std::vector<MemorySample> reserved_curve(const std::vector<SnapshotEntry>& entries, Bytes end);

}  // namespace stowage
