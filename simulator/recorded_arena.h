// A recorded allocator beside the simulated one: the same requests, from the state in which the recording
// begins.
#pragma once

#include <cstdint>

#include "simulator/arena.h"
#include "traces/import/snapshot_journal.h"

namespace stowage {

struct RecordedArena {
  std::int64_t same = 0;         // allocations that go to the address where the recording has them
  std::int64_t new_segment = 0;  // that go to a segment that both take while it is recorded
  std::int64_t elsewhere = 0;
  ArenaLevels begin, end;  // simulated

  std::int64_t allocations() const { return same + new_segment + elsewhere; }
};

// On a caching arena without limit, and segments that do not expand. Throws InputError where sizes add up to
// more than it can hold. Cost: a replay.
RecordedArena replay_recorded(const SnapshotJournal& recording);

}  // namespace stowage
