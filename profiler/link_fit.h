// Fits a link to timed copies: time = latency + bytes / rate.
#pragma once

#include <span>

#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

struct CopyTiming {
  Bytes bytes;
  Nanos time;
};

struct LinkFit {
  Link link;
  double error;  // root mean square of the relative residuals
};

// Least squares of the relative residuals, so that small copies, which tell the latency, count as much as
// large ones, which tell the rate. A negative latency becomes 0. Throws DefectError unless two sizes differ.
LinkFit fit_link(std::span<const CopyTiming> timings);

}  // namespace stowage
