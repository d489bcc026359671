// The caching arena against PyTorch's own, on real recordings: where each of some thousand allocations went.
#include "simulator/recorded_arena.h"
#include "tests/catch.h"
#include "tests/traces/external_recordings.h"
#include "traces/import/byte_source.h"
#include "traces/import/byte_window.h"
#include "traces/import/pickle.h"

using namespace stowage;

namespace external_arena_test {

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
    std::int64_t same, new_segment;
    std::int64_t reserved_before, reserved, active;  // of the file's segments, and of its blocks in use
  };
  for (const Recorded& recorded :
       {Recorded{"snapshot_gpt_medium_ctx128.pickle.gz", 6526, 0, 7235174400, 7235174400, 6816891392},
        Recorded{"snapshot_gpt_medium_ctx512.pickle.gz", 7587, 4, 12593397760, 12660506624, 6838108672}}) {
    CAPTURE(recorded.name);
    const auto recording = journal_in(recorded.name);
    if (!recording) return;
    const RecordedArena found = replay_recorded(*recording);
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
