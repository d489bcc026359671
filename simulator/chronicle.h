// Tells a finished execution as a timeline's spans and counters. Steps that never ended are left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/program.h"
#include "simulator/host_pool.h"
#include "simulator/step_times.h"
#include "traces/timeline.h"

namespace stowage {

// By begin, then lane. Cost: linear in steps.
std::vector<Span> spans_of(const Program& program, const StepTimes& times, const HostPool& host);

// copies, bytes_h2d, bytes_d2h, and bytes_disk_read and bytes_disk_write where a disk is used: of the spans.
// prefetch_on_time, prefetch_late: how often a compute step found a copy that it needs on the device when the
// step before it ended, and how often not. pageable_copies and pinned_...: of the pool of host buffers, since
// it was made; only where one was asked for.
std::map<std::string, std::int64_t> counters_of(const Program& program, const StepTimes& times,
                                                const HostPool& host);

}  // namespace stowage
