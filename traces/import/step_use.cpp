#include "traces/import/step_use.h"

#include <algorithm>

#include "traces/import/activity.h"

namespace stowage {
namespace {

// Steps as a device sees them; those of the host where one of them asks for no work, or they do not follow
// each other.
std::vector<StepWindow> device_windows(const std::vector<Work>& work, const std::vector<StepWindow>& steps) {
  std::vector<std::optional<StepWindow>> found(steps.size());
  for (const Work& piece : work) {
    const auto step = piece.origin ? step_at(steps, piece.origin->at) : std::nullopt;
    if (!step) continue;
    std::optional<StepWindow>& window = found[*step];
    if (!window) window = {piece.begin, piece.begin};
    window->begin = std::min(window->begin, piece.begin);
    window->end = std::max(window->end, piece.begin + piece.duration);
  }
  std::vector<StepWindow> windows;
  for (const std::optional<StepWindow>& window : found) {
    if (!window || (!windows.empty() && window->begin <= windows.back().begin)) return steps;
    if (!windows.empty()) windows.back().end = window->begin;
    windows.push_back(*window);
  }
  return windows;
}

}  // namespace

std::vector<StepUse> use_of(const KinetoTrace& trace, const std::vector<Work>& work,
                            const std::vector<StepWindow>& steps) {
  const bool shifted = steps.size() > 1 && has_device_work(trace);
  const std::vector<StepWindow> windows = shifted ? device_windows(work, steps) : steps;
  const Activity activity(trace);
  std::vector<Interval> cuts;
  for (const StepWindow& window : windows) cuts.push_back({window.begin, window.end});
  std::vector<StepUse> uses(windows.size());
  const auto add = [&](const std::vector<Interval>& times, Nanos StepUse::*part) {
    for (const Interval& time : common(times, cuts)) {
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
