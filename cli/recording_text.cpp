#include "cli/recording_text.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "cli/quantity.h"
#include "cli/table.h"
#include "traces/import/medians.h"

namespace stowage {
namespace {

constexpr const char* unknown = "-";

std::string number_of(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string sentence_of(const RecordingFormat format) {
  switch (format) {
    case RecordingFormat::kineto:
      return "a profiler trace of ";
    case RecordingFormat::memory_snapshot:
      return "a memory snapshot of ";
    case RecordingFormat::memory_timeline:
      return "a memory timeline of ";
    case RecordingFormat::execution_trace:
      return "an execution trace of ";
  }
  return "";
}

std::string how_found(FoundBy how) {
  switch (how) {
    case FoundBy::pattern:
      return "by the names that --blocks matches";
    case FoundBy::annotations:
      return "by ranges that the user named";
    case FoundBy::modules:
      return "by the calls of modules";
    case FoundBy::operators:
      return "by operators that repeat";
    case FoundBy::frames:
      return "by stack frames that repeat";
    case FoundBy::nothing:
      return "";
  }
  return "";
}

double share(Nanos part, Nanos whole) {
  return whole.value == 0 ? 0.0 : static_cast<double>(part.value) / static_cast<double>(whole.value);
}

// Equal as far as the eye is concerned: in bytes, and in time to a tenth.
bool alike(const ImportedBlock& a, const ImportedBlock& b) {
  const auto near = [](Nanos x, Nanos y) {
    return std::abs(x.value - y.value) * 10 <= std::max(x.value, y.value);
  };
  return a.group == b.group && a.bytes.saved == b.bytes.saved && near(a.forward, b.forward) &&
         near(a.backward, b.backward) && near(a.recompute, b.recompute);
}

Nanos middle(std::span<const ImportedBlock> blocks, Nanos ImportedBlock::*part) {
  std::vector<Nanos> values;
  for (const ImportedBlock& block : blocks) values.push_back(block.*part);
  return median(std::move(values));
}

// One row for blocks in a row that are alike.
std::string blocks_table(const ImportReport& report) {
  const std::span<const ImportedBlock> blocks = report.found.blocks;
  const auto any = [&](auto told) { return std::any_of(blocks.begin(), blocks.end(), told); };
  const bool sized = any([](const ImportedBlock& block) { return block.bytes.saved.value != 0; });
  const auto told = [&](Nanos ImportedBlock::*part) {
    return any([&](const ImportedBlock& block) { return (block.*part).value > 0; });
  };
  const bool forward = told(&ImportedBlock::forward), backward = told(&ImportedBlock::backward),
             again = told(&ImportedBlock::recompute);
  const auto time = [](std::span<const ImportedBlock> run, Nanos ImportedBlock::*part, bool is_told) {
    return is_told ? readable(middle(run, part)) : unknown;
  };
  Table table;
  std::vector<std::string> heads = {"blocks", "count", "forward", "backward"};
  if (again) heads.push_back("recomputed");
  heads.push_back("saved");
  table.row(heads);
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t last = first + 1;
    while (last < blocks.size() && alike(blocks[first], blocks[last])) ++last;
    const auto run = blocks.subspan(first, last - first);
    std::vector<std::string> cells = {run.front().name + (run.size() > 1 ? " .. " + run.back().name : ""),
                                      std::to_string(run.size()), time(run, &ImportedBlock::forward, forward),
                                      time(run, &ImportedBlock::backward, backward)};
    if (again) cells.push_back(time(run, &ImportedBlock::recompute, again));
    cells.push_back(sized ? readable(run.front().bytes.saved) : unknown);
    table.row(cells);
    first = last;
  }
  return table.text();
}

std::string blocks_text(const ImportReport& report) {
  const BlockFinding& found = report.found;
  if (found.blocks.empty()) return "No blocks were found: the profile has one block, the whole model.\n";
  std::string text = number_of(found.blocks.size(), "block") + ", found " + how_found(found.how);
  if (report.time)
    text += std::string(report.explains_little() ? ", but hardly the model's: they explain only "
                                                 : "; they explain ") +
            percent(report.time->totals.explained()) + " of the " +
            (report.time->on_device ? "device's" : "host's") + " time";
  return text + ".\n" + blocks_table(report);
}

std::string time_text(const TimeReport& time) {
  const WorkTotals& totals = time.totals;
  Table table;
  const auto row = [&](const std::string& name, Nanos part) {
    if (part.value > 0) table.row({name, readable(part), percent(share(part, totals.all))});
  };
  table.row({time.on_device ? "device time" : "host time", readable(totals.all)});
  row("  blocks", totals.blocks);
  row("  collectives", totals.collectives);
  row("  copies from and to the host", totals.host_copies);
  row("  launched before the recording", totals.orphans);
  row("  outside blocks", totals.rest);
  return table.text();
}

std::string rate_text(Rate rate) {
  return readable(Bytes{rate.bytes_per_second}) + "/s";
}

std::string kind_text(const CopyKind& kind) {
  const std::string direction = kind.direction == CopyDirection::h2d ? "to the device" : "to the host";
  return direction + ", " + (kind.host == HostSide::unknown ? "memory not told" : name_of(kind.host));
}

std::string copies_text(const CopyReport& copies) {
  if (copies.classes.empty()) return "";
  Table table;
  table.row({"copies", "sizes", "count", "bytes", "rate"});
  for (const CopyClass& of : copies.classes) {
    const std::string sizes = of.smallest == of.largest
                                  ? readable(of.largest)
                                  : readable(of.smallest) + " .. " + readable(of.largest);
    table.row({kind_text(of.kind), sizes, std::to_string(of.count), readable(of.bytes),
               of.rate ? rate_text(*of.rate) : unknown});
  }
  std::string text = table.text();
  for (const auto& [kind, fit] : copies.links)
    text += "  fitted " + kind_text(kind) + ": " + rate_text(fit.rate) + " after " + readable(fit.latency) +
            ", off by " + percent(fit.error) + " in the middle of " +
            (fit.samples == 1 ? "the one copy" : std::to_string(fit.samples) + " copies") + "\n";
  return text + "  " + percent(share(copies.hidden, copies.crossing)) + " of the " +
         readable(copies.crossing) + " of copies ran behind kernels\n";
}

std::string memory_text(const MemoryReport& memory) {
  constexpr std::size_t most = 8;
  Table table;
  table.row({"memory at the peak", readable(memory.account.peak)});
  Bytes others;
  for (std::size_t i = 0; i < memory.at_peak.size(); ++i) {
    if (i >= most) {
      others += memory.at_peak[i].bytes;
    } else if (memory.at_peak[i].bytes.value != 0) {
      table.row({"  " + memory.at_peak[i].owner, readable(memory.at_peak[i].bytes)});
    }
  }
  if (others.value != 0)
    table.row({"  " + std::to_string(memory.at_peak.size() - most) + " others", readable(others)});
  const Bytes reserved = peak(memory.reserved);  // 0 where no caching allocator was at work
  if (reserved.value > 0) table.row({"reserved, at most", readable(reserved)});
  for (const MemoryShare& share : memory.segments)
    table.row({"  " + share.owner + " at the end", readable(share.bytes)});
  return table.text();
}

std::string steps_text(const ImportReport& report) {
  std::vector<Nanos> lengths;
  for (const ImportedStep& step : report.steps) lengths.push_back(step.end - step.begin);
  std::string text = number_of(report.steps.size(), "step");
  const Nanos length = median(lengths);
  if (length.value > 0) text += " of " + readable(length) + (lengths.size() > 1 ? " in the middle" : "");
  return text;
}

}  // namespace

std::string describe(const ImportReport& report) {
  return sentence_of(report.format) +
         number_of(static_cast<std::size_t>(report.events),
                   report.format == RecordingFormat::execution_trace ? "node" : "event") +
         ", " + steps_text(report);
}

std::string repairs_text(const Repairs& repairs) {
  std::string text;
  for (int i = 0; i < repair_count; ++i) {
    const auto repair = static_cast<Repair>(i);
    const Repairs::Tally& tally = repairs[repair];
    if (tally.count > 0)
      text += (text.empty() ? "" : ", ") + std::string(name_of(repair)) + " " + std::to_string(tally.count) +
              " (first at byte " + std::to_string(tally.first_offset) + ")";
  }
  return text;
}

std::string recording_text(const ImportReport& report) {
  std::string text = blocks_text(report);
  const auto add = [&](const std::string& paragraph) {
    if (!paragraph.empty()) text += "\n" + paragraph;
  };
  if (report.time && report.time->totals.all.value > 0) add(time_text(*report.time));
  if (report.copies) add(copies_text(*report.copies));
  if (report.memory) add(memory_text(*report.memory));
  std::string notes;
  for (const std::string& note : report.notes) notes += "  Note: " + note + ".\n";
  add(notes);
  return text;
}

}  // namespace stowage
