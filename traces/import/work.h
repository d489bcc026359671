// The work that a trace's times are made of: what ran on the device or, in a trace without one, on the host.
#pragma once

#include <functional>
#include <optional>

#include "traces/import/host_order.h"
#include "traces/import/kineto_trace.h"

namespace stowage {

struct HostMoment {
  ThreadId thread;
  Nanos at;
};

enum class WorkKind : std::uint8_t {
  compute,     // kernels, fills, copies within a device
  collective,  // waits for other ranks: its time says nothing about the model
  host_copy,   // over the link between host and device
};

struct Work {
  Nanos begin, duration;
  std::optional<HostMoment>
      origin;  // where the host asked for it; absent for what was asked before the recording
  WorkKind kind;
};

// Whether anything ran on a device.
bool has_device_work(const KinetoTrace& trace);

// Visits all work, in no order. On a device the origin is the call that launched it, known by correlation, or
// by the operator that it names as its origin where the call is not in the trace; many may share one. On the
// host each operator is work for as long as it runs and none of the operators inside it does.
void each_work(const KinetoTrace& trace, const HostOrder& order,
               const std::function<void(const Work&)>& visit);

}  // namespace stowage
