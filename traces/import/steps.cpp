#include "traces/import/steps.h"

#include <algorithm>
#include <limits>
#include <map>

namespace stowage {
namespace {

// From the first begin to the last end.
class Extent {
 public:
  void add(Nanos begin, Nanos end) {
    window_.begin = std::min(window_.begin, begin);
    window_.end = std::max(window_.end, end);
  }
  bool empty() const { return window_.end < window_.begin; }
  StepWindow window() const { return window_; }

 private:
  StepWindow window_{{std::numeric_limits<std::int64_t>::max()}, {std::numeric_limits<std::int64_t>::min()}};
};

void add_device(const KinetoTrace& trace, Extent& extent) {
  for (const DeviceSpan& span : trace.device) extent.add(span.begin, span.end);
  for (const DeviceCopy& copy : trace.copies) extent.add(copy.span.begin, copy.span.end);
}

void add_host(const KinetoTrace& trace, Extent& extent) {
  constexpr Nanos instant{1};
  for (const HostSpan& span : trace.host) extent.add(span.begin, span.end);
  for (const Launch& launch : trace.launches) extent.add(launch.at, launch.at + instant);
  for (const MemoryEvent& event : trace.memory) extent.add(event.at, event.at + instant);
}

// In time order, each until the next one begins at the latest.
std::vector<StepWindow> one_after_another(std::vector<StepWindow> steps) {
  std::sort(steps.begin(), steps.end(), [](const StepWindow& a, const StepWindow& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    steps[i].end = std::min(steps[i].end, steps[i + 1].begin);
  std::erase_if(steps, [](const StepWindow& step) { return step.begin == step.end; });
  return steps;
}

}  // namespace

std::vector<StepWindow> marked_steps(const KinetoTrace& trace) {
  std::vector<bool> marks(trace.names.size());
  for (NameTable::Id id = 0; id < marks.size(); ++id)
    marks[id] = trace.names.text(id).starts_with("ProfilerStep#");
  std::map<ThreadId, std::vector<StepWindow>> by_thread;
  for (const HostSpan& span : trace.host) {
    if (span.kind == HostKind::annotation && marks[span.name])
      by_thread[span.thread].push_back({span.begin, span.end});
  }
  const auto most = std::max_element(by_thread.begin(), by_thread.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  return most == by_thread.end() ? std::vector<StepWindow>() : one_after_another(std::move(most->second));
}

std::vector<StepWindow> find_steps(const KinetoTrace& trace, const Blocks& blocks) {
  std::vector<StepWindow> steps = marked_steps(trace);
  if (!steps.empty()) return steps;
  Extent extent;
  add_device(trace, extent);
  add_host(trace, extent);
  if (extent.empty()) return {};
  std::vector<Nanos> begins;
  for (const Occurrence& occurrence : blocks.forward) {
    if (occurrence.block == 0) begins.push_back(occurrence.begin);
  }
  if (begins.size() < 2) return {extent.window()};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const bool last = i + 1 == begins.size();
    steps.push_back({begins[i], last ? std::max(extent.window().end, begins[i]) : begins[i + 1]});
  }
  return steps;
}

std::optional<StepWindow> device_extent(const KinetoTrace& trace) {
  Extent extent;
  add_device(trace, extent);
  if (extent.empty()) return std::nullopt;
  return extent.window();
}

std::optional<std::size_t> step_at(const std::vector<StepWindow>& steps, Nanos at) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), at,
                       [](Nanos moment, const StepWindow& step) { return moment < step.begin; });
  if (after == steps.begin() || !std::prev(after)->holds(at)) return std::nullopt;
  return static_cast<std::size_t>(std::prev(after) - steps.begin());
}

}  // namespace stowage
