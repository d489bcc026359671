#include "traces/import/kineto_import.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "traces/import/medians.h"

namespace stowage {
namespace {

Nanos median_of(const std::vector<BlockWork>& passes, Nanos BlockWork::*part) {
  std::vector<Nanos> values;
  for (const BlockWork& pass : passes) {
    if (pass.ran) values.push_back(pass.*part);
  }
  return median(std::move(values));
}

// By block, the first one that was recomputed together with it: a segment's blocks run again one after
// another, and the segment before it comes later.
std::vector<std::optional<BlockId>> segments(const Blocks& blocks) {
  std::vector<std::optional<BlockId>> found(blocks.names.size());
  std::optional<BlockId> first, previous;
  for (const Occurrence& again : blocks.recomputed) {
    if (!previous || again.block != *previous + 1) first = again.block;
    if (!found[again.block]) found[again.block] = first;
    previous = again.block;
  }
  return found;
}

BlockFinding finding(const Blocks& blocks, TimeSheet& sheet, const std::vector<BlockBytes>& bytes) {
  BlockFinding found{.how = blocks.how, .blocks = {}};
  const std::vector<std::optional<BlockId>> together = segments(blocks);
  for (BlockId id = 0; id < blocks.names.size(); ++id) {
    std::vector<BlockWork>& passes = sheet.blocks[id];
    found.blocks.push_back({.name = blocks.names[id].name,
                            .group = blocks.names[id].group,
                            .forward = median_of(passes, &BlockWork::forward),
                            .backward = median_of(passes, &BlockWork::backward),
                            .recompute = median_of(passes, &BlockWork::recompute),
                            .bytes = bytes.empty() ? BlockBytes{} : bytes[id],
                            .passes = std::move(passes),
                            .segment = together[id]});
  }
  return found;
}

// Of a recording that holds one step, not marked, the device knows
// when it began and ended: the host runs ahead.
std::vector<StepWindow> device_steps(const KinetoTrace& trace, std::vector<StepWindow> windows) {
  const std::optional<StepWindow> device = device_extent(trace);
  if (windows.size() == 1 && device && marked_steps(trace).empty()) windows.front() = *device;
  return windows;
}

std::vector<ImportedStep> imported_steps(const KinetoTrace& trace, const std::vector<StepWindow>& windows) {
  std::vector<ImportedStep> steps;
  for (const StepWindow& window : windows) {
    steps.push_back({window.begin + trace.header.base, window.end + trace.header.base});
  }
  return steps;
}

std::vector<MemoryShare> shares(const MemoryAccount& account, const Blocks& blocks) {
  std::vector<MemoryShare> all;
  Bytes others = account.peak - account.start;
  for (std::size_t id = 0; id < account.owners.size(); ++id) {
    if (account.owners[id].value != 0) all.push_back({blocks.names[id].name, account.owners[id]});
    others -= account.owners[id];
  }
  all.push_back({"before the recording", account.start});
  all.push_back({"outside blocks", others});
  std::stable_sort(all.begin(), all.end(),
                   [](const MemoryShare& a, const MemoryShare& b) { return a.bytes > b.bytes; });
  return all;
}

SynchronisationReport synchronisation_report(const KinetoTrace& trace) {
  SynchronisationReport report;
  std::map<std::int64_t, Nanos> latest;
  for (const Synchronisation& sync : trace.synchronisations) {
    const Track track = trace.streams[sync.stream];
    const std::string& kind = trace.names.text(sync.kind);
    ++report.kinds[kind];
    const bool for_event = kind == "Stream Wait Event" || kind == "Event Sync";
    if (for_event && !sync.awaited) ++report.unresolved;
    if (kind == "Stream Wait Event" && sync.awaited) ++report.stream_waits[{track, *sync.awaited}];
    const auto [previous, first] = latest.try_emplace(track.process, sync.at);
    if (sync.at < previous->second) ++report.out_of_order;
    previous->second = std::max(previous->second, sync.at);
  }
  return report;
}

std::string fixed(double number, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, number);
  return text;
}

void add_notes(const KinetoTrace& trace, ImportReport& report) {
  const WorkTotals& totals = report.time->totals;
  std::vector<std::string>& notes = report.notes;
  if (totals.orphan_count > 0) {
    notes.push_back(std::to_string(totals.orphan_count) +
                    " device events were launched before the recording and belong to no block");
  }
  if (report.explains_little())
    notes.push_back(
        "what repeats explains little of the time: the blocks may lie elsewhere, and --blocks says where");
  const Occupation& occupation = report.time->occupation;
  if (occupation.same_stream_overlaps > 0) {
    notes.push_back(std::to_string(occupation.same_stream_overlaps) +
                    " device events begin before the one before them on their stream ends, by " +
                    fixed(static_cast<double>(occupation.largest_overlap.value) / 1e3, 3) + " us at most");
  }
  const std::optional<double> off = report.copies->claimed_rate_off_by;
  if (off && std::abs(*off - 1.0) > 0.1) {
    notes.push_back("the copy rates that the trace states are wrong by a factor of " + fixed(*off, 2) +
                    "; bytes and durations are used");
  }
  std::int64_t without_bytes = 0;
  for (const CopyTraffic& traffic : report.copies->traffic) without_bytes += traffic.without_bytes;
  if (without_bytes > 0) {
    notes.push_back(std::to_string(without_bytes) + " copies do not say how many bytes they moved");
  }
  if (trace.names.full())
    notes.push_back("there are more different names than any program has: those beyond the first " +
                    std::to_string(trace.names.size()) + " are taken for one");
  if (trace.whole_micros && trace.events > 0) notes.push_back("times are cut to whole microseconds");
}

void add_memory(const KinetoTrace& trace, std::uint8_t device, const Contexts& contexts, const Blocks& blocks,
                const std::vector<StepWindow>& windows, ImportReport& report) {
  RecordedMemory memory = step_memory(trace, device, contexts, blocks, windows);
  const Nanos base = trace.header.base;
  for (MemorySample& sample : memory.allocated.curve) sample.at += base;
  for (MemorySample& sample : memory.reserved) sample.at += base;
  memory.allocated.peak_at += base;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    report.steps[i].peak = memory.step_peaks[i];
    report.steps[i].before_blocks = memory.before_blocks[i];
    report.steps[i].loss_rise = memory.loss_rises[i];
  }
  std::vector<MemoryShare> at_peak = shares(memory.allocated, blocks);
  report.memory = MemoryReport{.account = std::move(memory.allocated),
                               .reserved = std::move(memory.reserved),
                               .at_peak = std::move(at_peak),
                               .segments = {}};
}

void add_times(const KinetoTrace& trace, TimeSheet& sheet, const std::vector<StepWindow>& steps,
               ImportReport& report) {
  const Activity activity(trace, std::move(sheet.own_compute));
  report.time = TimeReport{.on_device = activity.on_device,
                           .totals = sheet.totals,
                           .occupation = occupation(trace, activity),
                           .steps = std::move(sheet.steps),
                           .use = use_of(activity, steps, sheet.extents)};
  report.copies = copy_report(trace, activity);
}

}  // namespace

ImportReport understand(const KinetoTrace& trace, const ImportOptions& options) {
  ImportReport report;
  report.format = RecordingFormat::kineto;
  report.events = trace.events;
  const HostOrder order(trace);
  const Blocks blocks = find_blocks(trace, order, options.blocks);
  const std::vector<StepWindow> windows = find_steps(trace, blocks);
  const Contexts contexts(trace, order, blocks);
  const std::vector<StepWindow> steps = device_steps(trace, windows);
  report.steps = imported_steps(trace, steps);
  report.devices = trace.header.devices;
  TimeSheet sheet = time_sheet(trace, order, contexts, blocks, windows);
  add_times(trace, sheet, steps, report);
  std::vector<BlockBytes> bytes;
  if (const std::optional<std::uint8_t> device = main_memory(trace)) {
    bytes = block_bytes(trace, *device, contexts, blocks, windows);
    add_memory(trace, *device, contexts, blocks, windows, report);
  }
  report.found = finding(blocks, sheet, bytes);
  if (blocks.reruns_unseen)
    report.doubts.push_back(
        "blocks run again inside the backward, and their operators alone do not tell which: name them with "
        "record_function, or record with_stack=True");
  if (!trace.synchronisations.empty()) report.synchronisation = synchronisation_report(trace);
  add_notes(trace, report);
  return report;
}

}  // namespace stowage
