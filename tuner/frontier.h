// Plans of which none is both as fast and as small as another.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/units.h"
#include "tuner/sketch.h"

namespace stowage {

// A plan by where it stands in the lists of choices. Simpler ones come first.
struct Candidate {
  std::uint32_t shape = 0, swap = 0;
  IssueChoice transfers;

  auto operator<=>(const Candidate&) const = default;
};

struct Standing {
  Bound figures;
  Bytes host;
  Candidate candidate;
};

// The same set whatever the order of offers. Not shared between threads.
class Frontier {
 public:
  // Whether a point is at least as good as `other`: no slower and no larger, and if it is neither faster nor
  // smaller, it takes less of the host or is simpler. Holds for whatever is worse than `other`, too: lower
  // bounds and the simplest of several candidates may be asked about. Cost: logarithmic.
  bool covers(const Standing& other) const;
  // The least step of a point that is no larger. Cost: logarithmic.
  std::optional<Nanos> fastest_within(Bytes peak) const;
  // Takes it in unless it is covered, and drops what it covers. Cost: linear at worst.
  bool offer(const Standing& standing);

  // Rising in peak, falling in step.
  const std::vector<Standing>& points() const { return points_; }

 private:
  // Of the points that are no larger, or null.
  const Standing* last_within(Bytes peak) const;

  std::vector<Standing> points_;
};

}  // namespace stowage
