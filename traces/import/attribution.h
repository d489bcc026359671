// Which work belongs to which block, and to which part of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/import/blocks.h"
#include "traces/import/work.h"

namespace stowage {

enum class Phase : std::uint8_t {
  outside,     // of everything below: data, loss, bookkeeping
  forward,     // of a block
  backward,    // of a block, or of what belongs to none
  recompute,   // a block's forward again, inside the backward
  accumulate,  // adding gradients up, which belongs to parameters and not to a moment of the forward
  optimizer,
};

struct Context {
  Phase phase = Phase::outside;
  std::optional<BlockId> block;
};

// The context of every moment of the host.
//
// A backward node belongs to the block whose forward made it: both carry one sequence number, and of the
// forward's operators that carry it the one that began last made the node. The node also names its forward's
// thread, by a number of the profiler's own; the thread that has most of that number's sequences is taken to
// be the one.
class Contexts {
 public:
  // Keeps a reference to `order`. Cost: linear in the spans, and a table of the forward's sequence numbers.
  Contexts(const KinetoTrace& trace, const HostOrder& order, const Blocks& blocks);

  Context at(HostMoment moment) const;

 private:
  void place_outside_nodes(const KinetoTrace& trace, const Blocks& blocks);
  void place_nodes();

  const HostOrder* order_;
  std::vector<Context> contexts_;  // by HostIndex
};

}  // namespace stowage
