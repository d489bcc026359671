// A memory snapshot as a journal: what its allocator was asked for, from the beginning.
//
// A recording begins in the middle of a run, when segments are there and partly in use. Where what is in them
// lies is known: from the end of the recording, and backwards through its history. So the journal opens with
// requests that bring an empty caching arena to that state:
//
//   segment by segment, in the order of addresses:   a request that takes such a segment, freed at once;
//                                                    then, from its front, each block, and each hole as a
//                                                    block
//   then every hole is freed
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/import/snapshot.h"
#include "traces/journal.h"

namespace stowage {

struct SnapshotJournal {
  Journal journal;
  std::size_t recorded = 0;              // entries from here on are the recording's
  std::vector<std::uint64_t> addresses;  // of each entry, as recorded; 0 before
  // As the recording began, by address; their `stream` is the journal's.
  std::vector<SnapshotSegment> segments;
};

// Of the device with the longest history. Absent: no history was recorded, or it was cut, the segments have
// no addresses, or they expand: their state cannot be rebuilt so.
std::optional<SnapshotJournal> journal_of(const Snapshot& snapshot);

}  // namespace stowage
