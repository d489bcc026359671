#include "cli/phase_figures.h"

#include <algorithm>
#include <array>

#include "cli/quantity.h"
#include "cli/table.h"

namespace stowage {
namespace {

struct MemoryName {
  MemorySpace space;
  const char* name;
};
constexpr std::array<MemoryName, 3> memory_names{
    {{MemorySpace::device, "device"}, {MemorySpace::host, "host"}, {MemorySpace::pinned, "pinned"}}};

std::string_view phase_name(const RunPhase& phase) {
  return phase_names[static_cast<std::size_t>(phase.kind)];
}

// "most on the device, out of host memory"
std::string remark(const RunPhase& phase, const std::vector<RunPhase>& phases) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (const auto& [space, name] : memory_names)
    if (&worst(phases, space) == &phase && peak_of(phase, space) > Bytes{}) add(std::string("most ") + name);
  if (const auto* shortage = std::get_if<OutOfMemory>(&phase.outcome.verdict))
    for (const auto& [space, name] : memory_names)
      if (space == shortage->space) add(std::string("does not fit: ") + name);
  if (const auto* shortage = std::get_if<OutOfMemory>(&phase.outcome.verdict))
    if (shortage->space == MemorySpace::disk) add("does not fit: disk");
  return text;
}

}  // namespace

std::string phases_text(const std::vector<RunPhase>& phases) {
  Table table(4);
  table.row({"phase", "device peak", "host peak", "pinned"});
  for (const RunPhase& phase : phases) {
    std::string name(phase_name(phase));
    std::replace(name.begin(), name.end(), '_', ' ');
    std::vector<std::string> row{name};
    for (const auto& [space, word] : memory_names) row.push_back(readable(peak_of(phase, space)));
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
        .field("host_pinned_peak_bytes", peaks.host_pinned)
        .end_object();
  }
  json.end_array().key("worst_phases").begin_row();
  for (const auto& [space, name] : memory_names) json.field(name, phase_name(worst(phases, space)));
  json.end_object();
}

}  // namespace stowage
