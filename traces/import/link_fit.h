// The rate of a link, from copies over it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/units.h"

namespace stowage {

struct CopySample {
  Bytes bytes;
  Nanos duration;
};

// duration = latency + bytes / rate.
struct CopyFit {
  Rate rate;
  Nanos latency;
  double error;          // of the middle sample: |fitted - measured| / measured
  std::int64_t samples;  // that the error is the middle of

  Nanos time_for(Bytes bytes) const { return latency + rate.time_for(bytes); }
};

// Least squares of the relative error, twice: the second time without samples that the first fit misses by
// half, which shared the link with others. Samples without bytes or time are passed over. Sizes that hardly
// differ cannot tell latency from rate: the latency is then 0. Absent where no sample is large enough to tell
// a rate, 64 KiB: what a smaller copy takes is latency.
std::optional<CopyFit> fit_link(const std::vector<CopySample>& samples);

}  // namespace stowage
