// The caching arena against PyTorch's own, on real recordings: where each of some thousand allocations went.
#include <map>

#include "simulator/caching_arena.h"
#include "simulator/replay.h"
#include "tests/catch.h"
#include "tests/traces/external_recordings.h"
#include "traces/import/byte_source.h"
#include "traces/import/byte_window.h"
#include "traces/import/pickle.h"
#include "traces/import/snapshot_journal.h"

using namespace stowage;

namespace external_arena_test {

constexpr Bytes no_limit{INT64_MAX};

// Where the arena's addresses, which begin at 0 in each pool, are in the recording.
class Chart {
 public:
  explicit Chart(const std::vector<SnapshotSegment>& segments) : segments_(segments) {
    for (const SnapshotSegment& segment : segments) {
      const bool small = !segment.large;
      begins_[small][ends_[small]] = segment.address;
      ends_[small] += segment.total.value;
    }
  }

  bool holds(std::uint64_t recorded) const {
    for (const SnapshotSegment& segment : segments_)
      if (recorded - segment.address < static_cast<std::uint64_t>(segment.total.value)) return true;
    return false;
  }
  // Absent: in a segment that the recording did not begin with.
  std::optional<std::uint64_t> recorded(bool small, std::int64_t address) const {
    if (address >= ends_[small]) return std::nullopt;
    const auto segment = std::prev(begins_[small].upper_bound(address));
    return segment->second + static_cast<std::uint64_t>(address - segment->first);
  }

 private:
  const std::vector<SnapshotSegment>& segments_;
  std::map<std::int64_t, std::uint64_t> begins_[2];
  std::int64_t ends_[2] = {0, 0};
};

struct Comparison {
  int same = 0, elsewhere = 0, new_segment = 0;
  ArenaLevels begin, end;
};

Comparison compared(const SnapshotJournal& recording) {
  const Chart chart(recording.segments);
  CachingArena arena(no_limit, {});
  Comparison found;
  for (std::size_t i = 0; i < recording.journal.entries.size(); ++i) {
    const JournalEntry& entry = recording.journal.entries[i];
    if (i == recording.recorded) found.begin = arena.levels();
    if (!entry.allocates) {
      arena.free(entry.buffer, entry.stream, entry.at);
      continue;
    }
    REQUIRE(arena.allocate({entry.buffer, entry.stream, entry.bytes}, entry.at));
    if (i < recording.recorded) continue;
    const auto here = chart.recorded(entry.bytes <= Bytes{1 << 20}, *arena.address(entry.buffer));
    REQUIRE(here.has_value() == chart.holds(recording.addresses[i]));
    ++(!here ? found.new_segment : *here == recording.addresses[i] ? found.same : found.elsewhere);
  }
  found.end = arena.levels();
  return found;
}

std::optional<SnapshotJournal> journal_in(const std::string& name) {
  const std::optional<std::string> file = tests::recording(name);
  if (!file) return std::nullopt;
  const auto bytes = open_bytes(*file);
  ByteWindow window(*bytes);
  Repairs repairs;
  return journal_of(snapshot_of(read_pickle(window, repairs)));
}

// Both recordings begin in the middle of a run, with some 5.1 GB in use, and hold one training step. In the
// first no memory is taken from the device; in the second a segment of 64 MiB is, at the same request as
// here.
TEST_CASE("every allocation of a real step goes where PyTorch put it") {
  struct Recorded {
    const char* name;
    int same, new_segment;
    std::int64_t reserved_before, reserved, active;  // of the file's segments, and of its blocks in use
  };
  for (const Recorded& recorded :
       {Recorded{"snapshot_gpt_medium_ctx128.pickle.gz", 6526, 0, 7235174400, 7235174400, 6816891392},
        Recorded{"snapshot_gpt_medium_ctx512.pickle.gz", 7587, 4, 12593397760, 12660506624, 6838108672}}) {
    CAPTURE(recorded.name);
    const auto recording = journal_in(recorded.name);
    if (!recording) return;
    const Comparison found = compared(*recording);
    REQUIRE(found.elsewhere == 0);
    REQUIRE(found.same == recorded.same);
    REQUIRE(found.new_segment == recorded.new_segment);
    REQUIRE(found.begin.reserved == Bytes{recorded.reserved_before});
    REQUIRE(found.end.reserved == Bytes{recorded.reserved});
    REQUIRE(found.end.allocated == Bytes{recorded.active});
    REQUIRE(parse_journal(to_json(recording->journal)) == recording->journal);
  }
}

}  // namespace external_arena_test
