#include "cli/phase_figures.h"

#include <algorithm>
#include <array>

#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/table.h"

namespace stowage {
namespace {

// That have a column: a disk where one is used.
std::vector<MemorySpace> told_spaces(const std::vector<RunPhase>& phases) {
  std::vector<MemorySpace> spaces(memory_spaces.begin(), memory_spaces.end());
  if (peak_of(worst(phases, MemorySpace::disk), MemorySpace::disk) == Bytes{})
    std::erase(spaces, MemorySpace::disk);
  return spaces;
}

std::string_view phase_name(const RunPhase& phase) {
  return phase_names[static_cast<std::size_t>(phase.kind)];
}

// "most on the device, out of host memory"
std::string remark(const RunPhase& phase, const std::vector<RunPhase>& phases) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (MemorySpace space : told_spaces(phases))
    if (&worst(phases, space) == &phase && peak_of(phase, space) > Bytes{})
      add(std::string("most ") + name_of(space));
  if (const auto* shortage = std::get_if<OutOfMemory>(&phase.outcome.verdict))
    add(std::string("does not fit: ") + name_of(shortage->space));
  return text;
}

}  // namespace

std::string phases_text(const std::vector<RunPhase>& phases) {
  const std::vector<MemorySpace> spaces = told_spaces(phases);
  std::vector<std::string> head{"phase", "device peak", "host peak", "pinned", "disk"};
  head.resize(1 + spaces.size());
  Table table(head.size());
  table.row(head);
  for (const RunPhase& phase : phases) {
    std::string name(phase_name(phase));
    std::replace(name.begin(), name.end(), '_', ' ');
    std::vector<std::string> row{name};
    for (MemorySpace space : spaces) row.push_back(readable(peak_of(phase, space)));
    row.push_back(remark(phase, phases));
    table.row(row);
  }
  return table.text();
}

void write_phases(JsonWriter& json, const std::vector<RunPhase>& phases) {
  json.key("phases").begin_array();
  for (const RunPhase& phase : phases) {
    const Peaks& peaks = phase.outcome.run.peaks;
    json.begin_row()
        .field("phase", phase_name(phase))
        .field("outcome",
               std::holds_alternative<OutOfMemory>(phase.outcome.verdict) ? "out_of_memory" : "ran")
        .field("peak_bytes", peaks.device)
        .field("peak_reserved_bytes", peaks.device_reserved)
        .field("host_peak_bytes", peaks.host)
        .field("host_pinned_peak_bytes", peaks.host_pinned);
    if (peaks.disk > Bytes{}) json.field("disk_peak_bytes", peaks.disk);
    json.end_object();
  }
  json.end_array().key("worst_phases").begin_row();
  for (MemorySpace space : told_spaces(phases)) json.field(name_of(space), phase_name(worst(phases, space)));
  json.end_object();
}

}  // namespace stowage
