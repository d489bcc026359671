// When a recording's steps begin and end.
#pragma once

#include <optional>
#include <vector>

#include "traces/import/blocks.h"
#include "traces/import/kineto_trace.h"

namespace stowage {

struct StepWindow {
  Nanos begin, end;

  bool holds(Nanos at) const { return begin <= at && at < end; }
};

// The steps that the profiler marked ("ProfilerStep#7"), in time order, none into the next. Where several
// threads bear marks, as those of ranks in one file do, those of the thread with the most. Empty where it
// marked none.
std::vector<StepWindow> marked_steps(const KinetoTrace& trace);

// The marked steps; else one from each time that the first block begins; else one that holds everything, on
// the host and the device. Empty only for an empty trace.
std::vector<StepWindow> find_steps(const KinetoTrace& trace, const Blocks& blocks);

// From the first to the last moment at which anything ran on a device.
std::optional<StepWindow> device_extent(const KinetoTrace& trace);

// The step that holds `at`. Steps in time order.
std::optional<std::size_t> step_at(const std::vector<StepWindow>& steps, Nanos at);

}  // namespace stowage
