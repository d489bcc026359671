// What an import finds: everything that `stowage import` prints and a profile is made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/import/blocks.h"
#include "traces/import/copies.h"
#include "traces/import/repairs.h"
#include "traces/import/step_memory.h"
#include "traces/import/step_use.h"
#include "traces/import/time_sheet.h"
#include "traces/import/trace_header.h"
#include "traces/journal.h"
#include "traces/profile.h"

namespace stowage {

enum class RecordingFormat : std::uint8_t { kineto, memory_snapshot, memory_timeline, execution_trace };
inline constexpr int recording_format_count = 4;
const char* name_of(RecordingFormat format);

struct ImportedBlock {
  std::string name, group;
  // The medians over the steps in which it ran; zero where the recording has no times.
  Nanos forward, backward, recompute;
  BlockBytes bytes;
  std::vector<BlockWork> passes;  // by step
  // The first of the blocks that were recomputed together with it; absent where it was not recomputed.
  std::optional<BlockId> segment;
};

struct BlockFinding {
  FoundBy how = FoundBy::nothing;
  std::vector<ImportedBlock> blocks;  // in the order of execution
};

struct ImportedStep {
  Nanos begin, end;  // since 1970 where the recording tells, else on its own clock
  // Where memory was recorded: the highest level, that at which the first block begins, and how far it rises
  // between the last block's forward and the first one's backward.
  std::optional<Bytes> peak = {}, before_blocks = {}, loss_rise = {};
};

struct TimeReport {
  bool on_device = false;  // else the host's operators are the work
  WorkTotals totals;
  Occupation occupation;
  std::vector<StepWork> steps;
  std::vector<StepUse> use;  // by step
};

// One category, block or other owner, and what it had live at the peak.
struct MemoryShare {
  std::string owner;
  Bytes bytes;
};

struct MemoryReport {
  MemoryAccount account;               // start, peak, curve
  std::vector<MemorySample> reserved;  // empty where it was not recorded
  std::vector<MemoryShare> at_peak;    // most first; what was live before the recording included
  std::vector<MemoryShare> segments;  // of the caching allocator at the end, where recorded: "large", "small"
};

struct SynchronisationReport {
  std::map<std::string, std::int64_t> kinds;
  // Stream waits by device, waiting stream and awaited stream.
  std::map<std::pair<Track, std::int64_t>, std::int64_t> stream_waits;
  std::int64_t unresolved = 0;    // waits for an event of which the profiler does not know the stream
  std::int64_t out_of_order = 0;  // written after one that began later on the same device
};

struct ImportReport {
  RecordingFormat format = RecordingFormat::kineto;
  std::int64_t events = 0;  // or entries, nodes: whatever the format consists of
  Repairs repairs;
  BlockFinding found;
  std::vector<ImportedStep> steps;
  std::vector<TracedDevice> devices;  // that the recording describes
  std::optional<TimeReport> time;
  std::optional<MemoryReport> memory;
  std::optional<Journal> journal;  // of a snapshot with a history, where it was asked for
  std::optional<CopyReport> copies;
  std::optional<SynchronisationReport> synchronisation;
  std::vector<std::string> notes;  // for people: what is odd about the recording without being damage

  // For people: why the blocks' figures may be wrong though nothing is damaged. No profile should be made of
  // them.
  std::vector<std::string> doubts;

  // Whether what was taken for blocks, since it repeats, is next to nothing of the time: the model's blocks,
  // if it has any, lie elsewhere.
  bool explains_little() const {
    return found.how == FoundBy::operators && time && time->totals.explained() < 0.1;
  }
  // Whether nothing had to be repaired or dropped.
  bool clean() const { return repairs.none(); }
};

struct ImportOptions {
  std::optional<std::string> blocks;  // a regular expression for the names of blocks
  bool journal = false;               // whether to keep what an allocator was asked for
};

}  // namespace stowage
