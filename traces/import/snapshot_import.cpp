#include "traces/import/snapshot_import.h"

#include <algorithm>

#include "traces/import/snapshot_blocks.h"
#include "traces/import/snapshot_history.h"

namespace stowage {
namespace {

// What the allocator's segments hold at the end, of one device.
struct Held {
  Bytes large, small, live, largest_free;

  Bytes total() const { return large + small; }
};

Held held_by(const Snapshot& snapshot, std::int64_t device) {
  Held held;
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    (segment.large ? held.large : held.small) += segment.total;
    held.live += segment.live;
    held.largest_free = std::max(held.largest_free, segment.largest_free);
  }
  return held;
}

std::size_t steps_of(const SnapshotHistory& history) {
  std::size_t steps = history.log.empty() ? 0 : 1;
  for (const SnapshotPass& pass : history.passes) steps = std::max(steps, pass.step + 1);
  return steps;
}

// Before an operation of the log.
Bytes level_at(const MemoryAccount& account, std::size_t operation) {
  return operation == 0 ? account.start : account.curve[operation - 1].bytes;
}

// A step lasts until the next one's first block begins; the first from the first entry, the last to the last.
std::vector<ImportedStep> imported_steps(const SnapshotHistory& history, const MemoryAccount& account) {
  const std::size_t count = steps_of(history);
  std::vector<ImportedStep> steps(count);
  if (count == 0) return steps;
  std::vector<std::size_t> begins(count, 0);
  for (auto pass = history.passes.rbegin(); pass != history.passes.rend(); ++pass) {
    if (pass->step > 0) begins[pass->step] = pass->first;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    steps[i].begin = history.log[begins[i]].at;
    steps[i].end = last ? history.log.back().at : history.log[begins[i + 1]].at;
    const auto end =
        last ? account.curve.end() : account.curve.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]);
    Bytes highest = level_at(account, begins[i]);
    for (auto at = account.curve.begin() + static_cast<std::ptrdiff_t>(begins[i]); at < end; ++at) {
      highest = std::max(highest, at->bytes);
    }
    steps[i].peak = highest;
  }
  for (auto pass = history.passes.rbegin(); pass != history.passes.rend();
       ++pass) {  // the first of a step is last
    steps[pass->step].before_blocks = level_at(account, pass->first);
  }
  return steps;
}

MemoryReport memory_report(const Snapshot& snapshot, const SnapshotHistory& history, const Held& held) {
  MemoryReport report;
  // From the end backwards: of a history that was cut the end is not known.
  std::optional<Bytes> start;
  if (!snapshot.cut) start = level_before(history.log, held.live);
  report.account = account(history.log, start, history.blocks);
  if (!snapshot.history.empty() && !snapshot.cut) {
    report.reserved =
        reserved_curve(snapshot.history[static_cast<std::size_t>(history.device)], held.total());
  }
  Bytes others = report.account.peak - report.account.start;
  for (std::size_t id = 0; id < report.account.owners.size(); ++id) {
    report.at_peak.push_back({"block." + std::to_string(id), report.account.owners[id]});
    others -= report.account.owners[id];
  }
  report.at_peak.push_back({"before the recording", report.account.start});
  report.at_peak.push_back({"outside blocks", others});
  std::stable_sort(report.at_peak.begin(), report.at_peak.end(),
                   [](const MemoryShare& a, const MemoryShare& b) { return a.bytes > b.bytes; });
  report.segments = {{"large segments", held.large},
                     {"small segments", held.small},
                     {"free inside segments", held.total() - held.live},
                     {"largest free block", held.largest_free}};
  return report;
}

// The host's time, from one allocation to the next.
TimeReport time_report(const std::vector<ImportedBlock>& blocks, std::vector<StepWork> steps) {
  TimeReport time;
  for (const ImportedBlock& block : blocks) {
    for (const BlockWork& pass : block.passes)
      time.totals.blocks += pass.forward + pass.backward + pass.recompute;
  }
  for (const StepWork& step : steps) time.totals.rest += step.prologue + step.epilogue + step.optimizer;
  time.totals.all = time.totals.blocks + time.totals.rest;
  time.steps = std::move(steps);
  return time;
}

void add_notes(const Snapshot& snapshot, const SnapshotHistory& history, ImportReport& report) {
  std::vector<std::string>& notes = report.notes;
  const MemoryAccount& account = report.memory->account;
  if (snapshot.cut)
    notes.push_back("the history is cut: what was live before it is not known, and not counted");
  if (history.log.empty()) notes.push_back("no history was recorded: the segments are all there is");
  if (!history.timed && !history.log.empty()) notes.push_back("the entries carry no times");
  if (history.timed)
    notes.push_back("times are those of the host between allocations; the device may lag behind");
  if (account.unknown_frees > 0) {
    notes.push_back(std::to_string(account.unknown_frees) + " frees are of memory from before the recording");
  }
  if (history.out_of_memory > 0) {
    notes.push_back(std::to_string(history.out_of_memory) + " allocations failed for lack of memory");
  }
  if (snapshot.ignored_entries > 0) {
    notes.push_back(std::to_string(snapshot.ignored_entries) + " entries are not about memory");
  }
}

}  // namespace

ImportReport understand(const Snapshot& snapshot, const ImportOptions& options) {
  ImportReport report;
  report.format = RecordingFormat::memory_snapshot;
  for (const auto& entries : snapshot.history) report.events += static_cast<std::int64_t>(entries.size());
  const SnapshotHistory history = history_of(snapshot, options.blocks);
  const bool recorded = !snapshot.history.empty() && !history.log.empty();
  const std::int64_t device =
      recorded || snapshot.segments.empty() ? history.device : snapshot.segments.front().device;
  report.memory = memory_report(snapshot, history, held_by(snapshot, device));
  report.steps = imported_steps(history, report.memory->account);
  SnapshotBlocks found = snapshot_blocks(history, report.steps);
  for (std::size_t i = 0; i < report.steps.size(); ++i) report.steps[i].loss_rise = found.loss_rises[i];
  for (const std::string& doubt : {history.again.doubt, found.doubt}) {
    if (!doubt.empty()) report.doubts.push_back(doubt);
  }
  report.found.blocks = std::move(found.blocks);
  if (!report.found.blocks.empty()) report.found.how = options.blocks ? FoundBy::pattern : FoundBy::frames;
  if (history.timed) report.time = time_report(report.found.blocks, std::move(found.steps));
  add_notes(snapshot, history, report);
  return report;
}

}  // namespace stowage
