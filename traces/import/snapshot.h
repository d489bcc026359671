// A memory snapshot of PyTorch's caching allocator: its segments, and what it was asked for before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/import/pickle.h"
#include "traces/units.h"

namespace stowage {

enum class SnapshotAction : std::uint8_t {
  allocate,
  request_free,   // the program is done with it
  complete_free,  // so are the streams that used it
  map_segment,    // memory taken from the device
  unmap_segment,  // given back
  out_of_memory,
};

struct SnapshotFrame {
  std::string_view function, file;
  std::int64_t line;

  bool operator==(const SnapshotFrame&) const = default;
};

struct SnapshotEntry {
  SnapshotAction action;
  std::uint64_t address;
  std::int64_t stream;
  Bytes bytes;
  std::optional<Nanos> at;  // since 1970
  PickleValue frames;       // innermost first
};

struct SnapshotBlock {
  std::uint64_t address;
  Bytes bytes;
  bool live;  // allocated, or only waiting for a stream
};

struct SnapshotSegment {
  std::int64_t device = 0, stream = 0;
  std::uint64_t address = 0;
  bool expandable = false;
  bool large = false;
  Bytes total, live;   // allocated blocks, and those that only wait for a stream
  Bytes largest_free;  // block
  std::vector<SnapshotBlock> blocks = {};
};

// A named range of the program's time.
struct SnapshotRange {
  std::string_view name;
  Nanos begin, end;
};

// Texts and frames live in `pickle`.
struct Snapshot {
  Pickle pickle;
  std::vector<SnapshotSegment> segments;
  std::vector<std::vector<SnapshotEntry>> history;  // by device, in time order; empty where none was recorded
  std::vector<SnapshotRange> ranges;
  std::int64_t ignored_entries = 0;  // of actions that are not about memory
  bool cut = false;                  // the history ends before the state that the segments tell

  std::vector<SnapshotFrame> frames_of(const SnapshotEntry& entry) const;
};

// Takes a snapshot out of a pickle: the dictionary of torch 2.x, or the older one whose blocks have no
// address. Throws InputError where it is neither.
Snapshot snapshot_of(Pickle pickle);

}  // namespace stowage
