// What a plan at least takes, found some fifty times faster than by compiling and simulating it.
//
// A sketch walks the compute lane once and looks at memory only when a compute step begins. Why it is never
// above what the simulator says:
//
// Times. A begin is the latest of some ends, an end is a begin and a length. Maxima and sums keep order, so
// where no length is longer than the real one nothing is later than in reality. Where lanes keep their own
// pace the lengths are the real ones. Shared rates only lengthen work; but a copy lane of several streams
// does not keep order (see CopyLane), so that with shared rates its latency is left out. Of what compute
// loses to copies those are counted that must have been under way since some earlier begin (see Losses).
//
// Memory. At the instant when a compute step that takes time begins, every edge up to that begin has been
// passed and none after it. So what is alive follows from the order of steps alone, but for buffers that go
// when their store ends: they are there if the store ends after the begin. A sketch knows the least end of a
// store, and two limits of a begin. In a plan of interest, which takes no longer than some step that is
// known, enough time must be left for the compute from the begin on. And where lanes keep their own pace, a
// begin is where the sketch has it; or if the streams are left open, later by no more than all latencies
// together, since what bounds a time is a path of lengths on which each copy is at most once.
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
struct IssueChoice {
  std::uint32_t prefetch = 1;
  bool several_h2d_streams = false, several_d2h_streams = false;

  auto operator<=>(const IssueChoice&) const = default;
};

// Which plans a search still cares for.
struct Interest {
  Nanos longest_step;                          // longer ones need no bound
  std::function<bool(const Bound&)> hopeless;  // whether a plan that takes at least this needs none
};

// Not shared between threads: reuses its memory.
class Sketch {
 public:
  Sketch(const CopyCosts& costs, const Machine& machine);
  ~Sketch();

  // A bound of the plan, if it is of interest. Asks now and then whether what has been seen of it is
  // hopeless, and gives up if it is. Cost: linear in the compute steps and the pieces that travel.
  std::optional<Bound> of(const Shape& shape, const SwapChoice& swap, const SwapUses& uses,
                          const IssueChoice& transfers, const Interest& interest);
  // The same for all streams together.
  std::optional<Bound> whatever_the_streams(const Shape& shape, const SwapChoice& swap, const SwapUses& uses,
                                            std::uint32_t prefetch, const Interest& interest);

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace stowage
