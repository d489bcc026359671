// A step time that no plan within a budget goes below, free plans included.
//
// Three views of a step, each a relaxation of its own; a plan is at least as slow as each says:
//
//   at the epilogue   what is then away was stored and loaded before, and comes back after it:
//                       max(forward, stores, loads) + max(rest of the compute, returns)
//   at the first      the same an instant later, when the first backward step needs its memory
//     backward step
//   over the step     every compute step must fit, whatever copies cost: compute + recomputation, and the
//                     copies one after another; with what prefetch has on the device beside it, or else with
//                     compute that waits for each copy. What no more memory can be pinned for is recomputed,
//                     or holds compute as pageable copies do
//
// What it holds for: plans of one pass whose optimizer states are on the device, with any treatments, any
// part of the saved tensors on the host, any blocks swapped or streamed without kept layers, any prefetch and
// streams; nothing on a disk. Nested recomputation is none that a plan expresses.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "traces/machine.h"
#include "traces/units.h"
#include "tuner/free/relaxation.h"
#include "tuner/free/weight_levels.h"
#include "tuner/tuner.h"

namespace stowage {

// One way to a fast plan that the bound points at: so much of the weights away, at this price of a byte.
struct Direction {
  WeightLevel away;
  double price;
};

struct Certified {
  std::optional<Nanos> bound;         // absent: no plan fits
  std::vector<Direction> directions;  // most promising first
};

// Made once for a table and a machine, then asked for budgets. Not shared between threads.
class Certificate {
 public:
  Certificate(const BlockTable& table, const Machine& machine);
  ~Certificate();

  // The least step within the budget. Levels whose bound is `than` or more are not looked at closely. Cost: a
  // few passes of the relaxation, and a few for each level of weights that may be faster than `than`.
  Certified certify(const Budget& budget, Nanos than);
  // What the relaxation would do in a direction, with `room` on the device for what belongs to a pass. Empty:
  // nothing fits.
  std::vector<Treated> draft(const Direction& direction, Bytes room);
  // What the budget leaves for activations and what belongs to a pass.
  Bytes room(const Budget& budget, Bytes weights_away) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
