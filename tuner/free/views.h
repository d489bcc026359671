// The times of a step as each view of it knows them; see certificate.h.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "traces/machine.h"
#include "tuner/free/step_bound.h"
#include "tuner/free/weight_levels.h"

namespace stowage {

// Which weights and links a step has, in the terms of bounds.
class Views {
 public:
  Views(const BlockTable& table, const Machine& machine);

  // Of plans that have `away` of the weights away at that time.
  std::vector<TimePiece> at_epilogue(Bytes away) const;
  std::vector<TimePiece> at_first_backward(Bytes away) const;
  // Of plans that swap or stream weights of `away`.
  std::vector<TimePiece> over_step(Bytes away) const;
  // The compute of a step that recomputes nothing.
  double compute() const { return before_ + epilogue_ + after_; }

 private:
  std::vector<TimePiece> split(Bytes away, double before, double after) const;

  double before_, epilogue_, after_;  // compute: up to the epilogue, itself, and what comes then
  double first_forward_;              // up to the end of the first block, before which nothing is stored
  double load_, store_;               // nanoseconds a byte, at best
  double slowdown_;
  Bytes heaviest_;
  bool all_change_ = true;  // no block's weights may be dropped after use
};

}  // namespace stowage
