#include "traces/import/activity.h"

#include <utility>

namespace stowage {
namespace {

std::vector<BusyInterval> operators(const KinetoTrace& trace) {
  std::vector<BusyInterval> times;
  for (const HostSpan& span : trace.host) {
    if (span.kind == HostKind::operation || span.kind == HostKind::backward_node)
      append(times, {span.begin, span.end});
  }
  return times;
}

}  // namespace

Activity::Activity(const KinetoTrace& trace, std::vector<BusyInterval> own_compute)
    : compute(std::move(own_compute)) {
  for (const DeviceCopy& copy : trace.copies) {
    const BusyInterval time{copy.span.begin, copy.span.end};
    if (copy.kind.crosses()) append(crossing, time);
    append(all, time);
  }
  for (const DeviceSpan& span : trace.device) {
    const BusyInterval time{span.begin, span.end};
    if (span.kind == DeviceKind::kernel) append(kernels, time);
    append(all, time);
  }
  on_device = !all.empty();
  if (!on_device) compute = all = operators(trace);
  for (std::vector<BusyInterval>* times : {&crossing, &kernels, &compute, &all})
    *times = united(std::move(*times));
}

}  // namespace stowage
