#include "simulator/recorded_arena.h"

#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "simulator/caching_arena.h"
#include "simulator/levels.h"

namespace stowage {
namespace {

// Where an arena's addresses, which begin at 0 in each pool, are in the recording.
class AddressChart {
 public:
  explicit AddressChart(const SnapshotJournal& recording) {
    for (const SnapshotSegment& segment : recording.segments) {
      recorded_[segment.address] = segment.total;
      ChartedPool& pool = pools_[{segment.stream, segment.large}];
      pool.begins[pool.end] = segment.address;
      pool.end += segment.total.value;
    }
  }

  // Absent: in a segment with which the recording did not begin.
  std::optional<std::uint64_t> recorded(std::int64_t stream, bool large, std::int64_t address) const {
    const auto pool = pools_.find({stream, large});
    if (pool == pools_.end() || address >= pool->second.end) return std::nullopt;
    const auto segment = std::prev(pool->second.begins.upper_bound(address));
    return segment->second + static_cast<std::uint64_t>(address - segment->first);
  }
  bool holds(std::uint64_t recorded) const {
    const auto after = recorded_.upper_bound(recorded);
    if (after == recorded_.begin()) return false;
    const auto& [address, total] = *std::prev(after);
    return recorded - address < static_cast<std::uint64_t>(total.value);
  }

 private:
  struct ChartedPool {
    std::map<std::int64_t, std::uint64_t> begins;
    std::int64_t end = 0;
  };

  std::map<std::pair<std::int64_t, bool>, ChartedPool> pools_;
  std::map<std::uint64_t, Bytes> recorded_;
};

}  // namespace

RecordedArena replay_recorded(const SnapshotJournal& recording) {
  constexpr Bytes largest_small{1 << 20};
  const AddressChart chart(recording);
  CachingArena arena({std::numeric_limits<std::int64_t>::max()}, {});
  RecordedArena found;
  for (std::size_t i = 0; i < recording.journal.entries.size(); ++i) {
    const JournalEntry& entry = recording.journal.entries[i];
    if (i == recording.recorded) found.begin = arena.levels();
    if (!entry.allocates) {
      arena.free(entry.buffer, entry.stream, entry.at);
      continue;
    }
    if (!arena.allocate({entry.buffer, entry.stream, entry.bytes}, entry.at)) refuse_sizes();
    const std::optional<std::int64_t> address = arena.address(entry.buffer);
    if (i < recording.recorded || !address) continue;
    const auto here = chart.recorded(entry.stream, entry.bytes > largest_small, *address);
    const bool known = chart.holds(recording.addresses[i]);
    ++(here && *here == recording.addresses[i] ? found.same
       : !here && !known                       ? found.new_segment
                                               : found.elsewhere);
  }
  found.end = arena.levels();
  return found;
}

}  // namespace stowage
