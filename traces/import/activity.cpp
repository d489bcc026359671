#include "traces/import/activity.h"

#include <algorithm>

#include "traces/import/work.h"

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

Activity::Activity(const KinetoTrace& trace, const HostOrder& order) {
  for (const DeviceCopy& copy : trace.copies) {
    const BusyInterval time{copy.span.begin, copy.span.end};
    if (copy.kind.crosses()) add(crossing, time);
    add(all, time);
  }
  for (const DeviceSpan& span : trace.device) {
    const BusyInterval time{span.begin, span.end};
    if (span.kind == DeviceKind::kernel) add(kernels, time);
    add(all, time);
  }
  on_device = !all.empty();
  if (on_device) {
    each_work(trace, order, [&](const Work& work) {
      if (work.kind == WorkKind::compute && work.origin)
        add(compute, {work.begin, work.begin + work.duration});
    });
  } else {
    compute = all = operators(trace);
  }
  for (std::vector<BusyInterval>* times : {&crossing, &kernels, &compute, &all})
    *times = united(std::move(*times));
}

}  // namespace stowage
