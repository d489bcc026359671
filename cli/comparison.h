// Two timelines of one program, span by span.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "traces/timeline.h"

namespace stowage {

// A figure of both timelines, in nanoseconds or bytes.
struct FigurePair {
  std::int64_t predicted = 0, measured = 0;

  // (measured - predicted) / predicted; infinite where only `predicted` is 0.
  double difference() const;
};

// The same step in both; one is absent where the other timeline has no such step.
struct SpanPair {
  std::optional<Span> predicted, measured;

  const Span& either() const { return predicted ? *predicted : *measured; }
  Nanos predicted_length() const;
  Nanos measured_length() const;
  // How much longer it took than predicted, either way.
  Nanos gap() const;
};

struct Comparison {
  FigurePair step, compute, stall, device_peak, host_peak;
  std::array<FigurePair, lane_count> busy;
  std::array<FigurePair, stall_cause_count> stalls;
  std::vector<SpanPair> spans;  // in the predicted order, then those that were only measured

  std::size_t only_predicted() const;
  std::size_t only_measured() const;
  // At most `count` spans found in both, the largest gap first; none without a gap.
  std::vector<SpanPair> largest_gaps(std::size_t count) const;
};

// The k-th span that does one thing (lane, kind, block, storage) is paired with the k-th that does it in the
// other. Cost: n log n.
Comparison compare(const Timeline& predicted, const Timeline& measured);

}  // namespace stowage
