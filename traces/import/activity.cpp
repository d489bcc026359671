#include "traces/import/activity.h"

namespace stowage {
namespace {

std::vector<Interval> operators(const KinetoTrace& trace) {
  std::vector<Interval> times;
  for (const HostSpan& span : trace.host) {
    if (span.kind == HostKind::operation || span.kind == HostKind::backward_node)
      times.push_back({span.begin, span.end});
  }
  return times;
}

}  // namespace

Activity::Activity(const KinetoTrace& trace) {
  for (const DeviceCopy& copy : trace.copies) {
    const Interval time{copy.span.begin, copy.span.end};
    (copy.kind.crosses() ? crossing : compute).push_back(time);
    all.push_back(time);
  }
  for (const DeviceSpan& span : trace.device) {
    const Interval time{span.begin, span.end};
    if (span.kind == DeviceKind::kernel) kernels.push_back(time);
    if (span.kind != DeviceKind::collective) compute.push_back(time);
    all.push_back(time);
  }
  if (all.empty()) compute = all = operators(trace);
  for (std::vector<Interval>* times : {&crossing, &kernels, &compute, &all})
    *times = united(std::move(*times));
}

}  // namespace stowage
