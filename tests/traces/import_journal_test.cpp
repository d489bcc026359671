// Snapshots as journals, on one made by hand.
#include "tests/catch.h"
#include "traces/import/snapshot_journal.h"

using namespace stowage;

namespace import_journal_test {

constexpr std::int64_t mib = 1 << 20;
constexpr std::uint64_t segment = 1 << 30;

SnapshotEntry entry(SnapshotAction action, std::uint64_t address, std::int64_t bytes, std::int64_t at) {
  return {action, address, 7, {bytes}, Nanos{at}, {}};
}

// A segment of 20 MiB that ends as | 4 in use | 16 free |. While it was recorded 5 MiB behind the 4 were
// freed, and 2 in their place came and went.
Snapshot made() {
  Snapshot snapshot;
  SnapshotSegment all;
  all.stream = 7;
  all.address = segment;
  all.large = true;
  all.total = {20 * mib};
  all.blocks = {{segment, {4 * mib}, true}, {segment + 4 * mib, {16 * mib}, false}};
  snapshot.segments = {all};
  snapshot.history = {{entry(SnapshotAction::request_free, segment + 4 * mib, 5 * mib, 100),
                       entry(SnapshotAction::complete_free, segment + 4 * mib, 5 * mib, 101),
                       entry(SnapshotAction::allocate, segment + 4 * mib, 2 * mib, 103),
                       entry(SnapshotAction::complete_free, segment + 4 * mib, 2 * mib, 107)}};
  return snapshot;
}

// First 9 MiB for a segment of 20, freed at once; then 4, 5 and a hole of 11, which is freed.
TEST_CASE("a journal begins by rebuilding what the recording began with") {
  const auto found = journal_of(made());
  REQUIRE(found);
  REQUIRE(found->journal.streams == std::vector<std::string>{"stream 7"});
  REQUIRE(found->recorded == 6);
  const std::vector<JournalEntry> entries{
      {{0}, 0, true, {9 * mib}, 0}, {{0}, 0, false, {}, 0},        {{0}, 1, true, {4 * mib}, 0},
      {{0}, 2, true, {5 * mib}, 0}, {{0}, 3, true, {11 * mib}, 0}, {{0}, 3, false, {}, 0},
      {{1}, 2, false, {}, 0},       {{3}, 4, true, {2 * mib}, 0},  {{7}, 4, false, {}, 0}};
  REQUIRE(found->journal.entries == entries);
  REQUIRE(found->addresses[7] == segment + 4 * mib);
  REQUIRE(found->segments.size() == 1);
}

TEST_CASE("a state that requests cannot rebuild gives no journal") {
  Snapshot snapshot = made();
  snapshot.segments[0].expandable = true;
  REQUIRE(!journal_of(snapshot));
  snapshot = made();
  snapshot.segments[0].address = 0;
  REQUIRE(!journal_of(snapshot));
  snapshot = made();
  snapshot.segments[0].total = {INT64_MAX};
  REQUIRE(!journal_of(snapshot));
  snapshot = made();
  snapshot.history[0].clear();
  REQUIRE(!journal_of(snapshot));
}

}  // namespace import_journal_test
