// Puts a journal's requests to an arena.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "simulator/arena.h"
#include "traces/journal.h"
#include "traces/timeline.h"

namespace stowage {

struct ArenaCurves {
  std::vector<MemorySample> live, allocated, reserved;  // at most one sample an instant, of its end

  bool operator==(const ArenaCurves&) const = default;
};

struct ArenaReplay {
  ArenaLevels peaks;  // each by itself
  // The entry whose request was refused, and where the replay ended.
  std::optional<std::size_t> refused;
};

// `arena` holds nothing yet. `curves` may be null. Cost: that of the arena's operations.
ArenaReplay replay(const std::vector<JournalEntry>& entries, SimulatedArena& arena, ArenaCurves* curves);

}  // namespace stowage
