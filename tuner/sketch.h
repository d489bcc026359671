// What a plan at least takes, found some fifty times faster than by compiling and simulating it.
//
// A sketch walks the compute lane once and looks at memory only when a compute step begins. Why it is never
// above what the simulator says:
//
//   Times. A begin is the latest of some ends, an end is a begin and a length. Maxima and sums keep order, so
//   where no length is longer than the real one nothing is later than in reality. Where lanes keep their own
//   pace the lengths are the real ones. Shared rates only lengthen work; but a copy lane of several streams
//   does not keep order (see CopyLane), so that with shared rates its latency is left out.
//   Memory. At the instant when a compute step that takes time begins, every edge up to that begin has been
//   passed and none after it. So what is alive follows from the order of steps alone, but for buffers that
//   go when their store ends. Their times are the real ones where lanes keep their own pace; otherwise they
//   count as gone once the store is issued. The peak is no lower than the level at such an instant.
//
// Whatever the streams, nothing is earlier than where all latencies are left out, and nothing is later than
// there by more than all latencies together: what bounds a time is a path of lengths, on which each copy is
// at most once. So a buffer that leaves later than that after a begin is still there at the begin.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "traces/machine.h"
#include "tuner/copy_costs.h"
#include "tuner/shape.h"
#include "tuner/swap_choice.h"

namespace stowage {

struct Bound {
  Nanos step;
  Bytes peak;
};

// How copies are issued: TransferSettings as far as they matter. More than two streams are as two.
struct Transfers {
  std::uint32_t prefetch = 1;
  bool several_h2d_streams = false, several_d2h_streams = false;

  auto operator<=>(const Transfers&) const = default;
};

// Not shared between threads: reuses its memory.
class Sketch {
 public:
  Sketch(const CopyCosts& costs, const Machine& machine);
  ~Sketch();

  // Asks `hopeless` now and then with what the plan takes as far as has been seen, and gives up if it is.
  using Hopeless = std::function<bool(const Bound&)>;

  // Cost of either: linear in the compute steps and the pieces that travel.
  std::optional<Bound> of(const Shape& shape, const SwapChoice& swap, const WeightUses& uses,
                          const Transfers& transfers, const Hopeless& hopeless);
  std::optional<Bound> whatever_the_streams(const Shape& shape, const SwapChoice& swap,
                                            const WeightUses& uses, std::uint32_t prefetch,
                                            const Hopeless& hopeless);

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace stowage
