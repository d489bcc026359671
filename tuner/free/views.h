// The times of a step as each view of it knows them; see certificate.h.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/block_table.h"
#include "traces/machine.h"
#include "tuner/free/step_bound.h"
#include "tuner/free/weight_levels.h"

namespace stowage {

// Which weights and links a step has, in the terms of bounds.
class Views {
 public:
  // What comes after the forward pass of the swapped block that is used last. Around the epilogue there are
  // then, of the weights that are swapped, on the device or on their way there:
  //   its_backward   those of that block, which stay, and those of the next to be used
  //   another        those of the next, which is recomputed before that block, and is loaded for its own
  //                  backward once more
  // Without prefetch none are on their way; but then compute waits for every load, and that is longer where a
  // block is loaded in less time than the forward pass takes: only then are weights counted so.
  enum class Next : std::uint8_t { its_backward, another };

  Views(const BlockTable& table, const Machine& machine);

  // Of plans that have `away` of the weights away at that time.
  std::vector<TimePiece> at_epilogue(Bytes away, Next next) const;
  std::vector<TimePiece> at_first_backward(Bytes away, Next next) const;
  // Of plans that swap or stream weights of `away`. Where nothing is prefetched, compute waits for each copy
  // to the device from its beginning.
  std::vector<TimePiece> over_step(Bytes away, bool prefetched) const;
  // Nanoseconds for which that holds compute at least, there and back, which is pageable and would take a
  // byte if it was pinned.
  double held_by_pageable() const { return held_by_pageable_; }
  // What a byte of weights takes at least once it is pinned.
  double pinned_weight() const { return pinned_weight_; }
  // The compute of a step that recomputes nothing.
  double compute() const { return before_ + epilogue_ + after_; }

 private:
  std::vector<TimePiece> split(Bytes away, double before, double after, Next next) const;

  double before_, epilogue_, after_;  // compute: up to the epilogue, itself, and what comes then
  double first_forward_;              // up to the end of the first block, before which nothing is stored
  double last_forward_;               // of the last block
  double last_backward_;              // what comes after the last load: the first block and the optimizer
  double load_, store_;               // nanoseconds a byte, at best
  double held_by_pageable_;
  double pinned_weight_ = 2;  // or more, which is not counted
  double slowdown_;
  Bytes heaviest_;
  Bytes lightest_, second_lightest_;  // that can be counted on the device around the epilogue
  bool all_change_ = true;            // no block's weights may be dropped after use
};

}  // namespace stowage
