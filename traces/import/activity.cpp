#include "traces/import/activity.h"

#include <algorithm>

namespace stowage {
namespace {

// Appends; what follows in time and touches the last interval becomes part of it: most of a trace does.
void add(std::vector<BusyInterval>& times, BusyInterval time) {
  if (!times.empty() && times.back().begin <= time.begin && time.begin <= times.back().end) {
    times.back().end = std::max(times.back().end, time.end);
  } else {
    times.push_back(time);
  }
}

std::vector<BusyInterval> operators(const KinetoTrace& trace) {
  std::vector<BusyInterval> times;
  for (const HostSpan& span : trace.host) {
    if (span.kind == HostKind::operation || span.kind == HostKind::backward_node)
      add(times, {span.begin, span.end});
  }
  return times;
}

}  // namespace

Activity::Activity(const KinetoTrace& trace) {
  for (const DeviceCopy& copy : trace.copies) {
    const BusyInterval time{copy.span.begin, copy.span.end};
    add(copy.kind.crosses() ? crossing : compute, time);
    add(all, time);
  }
  for (const DeviceSpan& span : trace.device) {
    const BusyInterval time{span.begin, span.end};
    if (span.kind == DeviceKind::kernel) add(kernels, time);
    if (span.kind != DeviceKind::collective) add(compute, time);
    add(all, time);
  }
  on_device = !all.empty();
  if (!on_device) compute = all = operators(trace);
  for (std::vector<BusyInterval>* times : {&crossing, &kernels, &compute, &all})
    *times = united(std::move(*times));
}

}  // namespace stowage
