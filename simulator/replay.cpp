#include "simulator/replay.h"

#include <algorithm>

namespace stowage {
namespace {

void note(std::vector<MemorySample>& curve, Nanos at, Bytes level) {
  if (!curve.empty() && curve.back().at == at) curve.pop_back();
  const Bytes before = curve.empty() ? Bytes{} : curve.back().bytes;
  if (level != before) curve.push_back({at, level});
}

}  // namespace

ArenaReplay replay(const std::vector<JournalEntry>& entries, SimulatedArena& arena, ArenaCurves* curves) {
  ArenaReplay result;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const JournalEntry& entry = entries[i];
    if (!entry.allocates) {
      arena.free(entry.buffer, entry.stream, entry.at);
    } else if (!arena.allocate({entry.buffer, entry.stream, entry.bytes}, entry.at)) {
      result.refused = i;
      break;
    }
    const ArenaLevels levels = arena.levels();
    result.peaks = {std::max(result.peaks.live, levels.live),
                    std::max(result.peaks.allocated, levels.allocated),
                    std::max(result.peaks.reserved, levels.reserved)};
    if (!curves) continue;
    note(curves->live, entry.at, levels.live);
    note(curves->allocated, entry.at, levels.allocated);
    note(curves->reserved, entry.at, levels.reserved);
  }
  return result;
}

}  // namespace stowage
