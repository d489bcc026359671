#include "traces/import/step_use.h"

#include <algorithm>

namespace stowage {
namespace {

// Steps as a device sees them; those of the host where one of several asks for no work, or they do not follow
// each other.
std::vector<StepWindow> windows_of(const std::vector<StepWindow>& steps,
                                   const std::vector<std::optional<StepWindow>>& extents) {
  std::vector<StepWindow> windows;
  if (steps.size() == 1) {
    windows = steps;
    if (extents[0]) windows[0].end = std::max(windows[0].end, extents[0]->end);
    return windows;
  }
  for (const std::optional<StepWindow>& extent : extents) {
    if (!extent || (!windows.empty() && extent->begin <= windows.back().begin)) return steps;
    if (!windows.empty()) windows.back().end = extent->begin;
    windows.push_back(*extent);
  }
  return windows;
}

}  // namespace

std::vector<StepUse> use_of(const Activity& activity, const std::vector<StepWindow>& steps,
                            const std::vector<std::optional<StepWindow>>& extents) {
  const std::vector<StepWindow> windows = activity.on_device ? windows_of(steps, extents) : steps;
  std::vector<BusyInterval> cuts;
  for (const StepWindow& window : windows) cuts.push_back({window.begin, window.end});
  std::vector<StepUse> uses(windows.size());
  const auto add = [&](const std::vector<BusyInterval>& times, Nanos StepUse::*part) {
    for (const BusyInterval& time : common(times, cuts)) {
      if (const auto step = step_at(windows, time.begin)) uses[*step].*part += time.end - time.begin;
    }
  };
  add(activity.all, &StepUse::busy);
  add(activity.compute, &StepUse::compute);
  add(activity.crossing, &StepUse::crossing);
  add(common(activity.crossing, activity.kernels), &StepUse::hidden);
  for (std::size_t i = 0; i < windows.size(); ++i)
    uses[i].idle = windows[i].end - windows[i].begin - uses[i].busy;
  return uses;
}

}  // namespace stowage
