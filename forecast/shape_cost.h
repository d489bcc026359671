// What a block costs by its shape alone: the sums that hold for any transformer, before a fit says how an
// implementation differs from them.
//
//   tokens T (batch included), width W, projections to Q (queries) and K (keys, values), hidden layer H
//
//   multiplications, counted twice as is usual, of one forward
//     projections       2 T W (2 Q + 2 K)      for each attention
//     scores and sums   4 T t Q                t tokens of one sample; nothing is saved by flash attention,
//                                              which computes the same (Dao et al. 2022, section 3.1)
//     hidden layer      2 T W H (2, or 3 where it is gated)
//   (Korthikanti et al. 2022, "Reducing activation recomputation", appendix A, for the first two)
//   a backward through frozen weights takes as much as the forward, for it makes gradients of inputs alone;
//   with trained weights twice as much
//
//   bytes kept, in units of what enters (X = T W bytes-a-number)
//     attention         one unit for each attention, K counted for what it is of W: the fit says how many
//                       tensors that size are kept (the norm, query, key, value, output, their casts)
//     hidden layer      H / W units, three times that where it is gated (gate, activated gate, product)
//     scores            heads x t x t x batch x 2 x bytes-a-number where attention is not flash
//     projections       what enters each of them: kept only where weights are trained or quantised on the
//                       way, or come from the host
#pragma once

#include "forecast/training.h"
#include "traces/units.h"

namespace stowage {

struct BlockCost {
  double input = 0;                              // X, bytes
  double attention_kept = 0;                     // bytes if one tensor of each attention is kept
  double ffn_kept = 0;                           // bytes of the hidden layer, once
  double scores_kept = 0;                        // bytes of the scores, 0 with flash attention
  double projected = 0;                          // bytes of what enters all projections
  double linear_flops = 0, attention_flops = 0;  // of one forward
  double projections = 0;                        // how many matrices are multiplied with

  BlockCost& operator+=(const BlockCost& other);
  friend BlockCost operator*(double times, const BlockCost& cost);
};

BlockCost block_cost(const Family& family, const GroupShape& shape, const TrainedShape& training);
// Weights that are trained in one block.
double trained_in(const GroupShape& shape, const Recipe& recipe);

struct FamilyCost {
  BlockCost blocks;                                          // of all blocks that options reach
  BlockCost outside;                                         // of those that none reaches
  BlockCost largest;                                         // of the block that keeps most
  double count = 0;                                          // blocks that options reach
  double block_weights = 0, other_weights = 0, trained = 0;  // numbers, not bytes
  double epilogue = 0;  // bytes of the loss: a language model's logits, as made, in fp32, and their gradient
};

FamilyCost family_cost(const Family& family, const TrainedShape& training);

}  // namespace stowage
