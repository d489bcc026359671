// What a plan does with activations, laid out along the compute lane so that bounds are quick to find.
//
// A shape is a plan without its swap and its transfers: which blocks are kept, recomputed or sent away. All
// plans of one shape carry out the same compute steps and send the same parcels:
//
//   compute  F0 F1 F2 E R0 R1 B1 B0 ...
//   parcel      made F1 |---sent at F1's end---> ~~~~ needed by R0 or B1 ---> gone at B1's end
#pragma once

#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/range.h"
#include "tuner/copy_costs.h"

namespace stowage {

// What one block sends to the host: its saved storages, or its input.
struct Parcel {
  std::uint32_t block;
  std::uint32_t made, sent, needed, gone;  // compute steps: begin, end, ready, end
  Range pieces;                            // into Shape::pieces
  Bytes bytes;
  Nanos store, restore;  // of all pieces, without latency
  Bytes shared = {};     // of its first piece: what other states have, too, so that it does not go with it

  Bytes outgoing() const { return bytes - shared; }
};

struct ShapeStep {
  Nanos duration;
  Bytes level;     // on the device as it begins, but for weights of blocks and for parcels
  Bytes outgoing;  // parcels made as it begins
  Bytes floor;     // `level` and the parcels that must be there: made and not yet sent, or needed
};

// Where a block computes.
struct BlockSpan {
  std::uint32_t forward, resumes, backward;
  Bytes floor;  // the highest of its steps that take time
};

// A group of blocks whose backward pass is one: a kept block or a recomputed segment.
struct Shape {
  Shape(const BlockTable& table, const CopyCosts& costs, const Plan& plan);

  std::vector<ShapeStep> steps;
  std::vector<BlockSpan> blocks;
  std::vector<Range> backward_runs;  // in the order of the backward pass: a kept block, or a segment
  std::vector<Parcel> parcels;  // in the order in which they are sent; they come back the other way round
  std::vector<Cargo> pieces;
  std::uint32_t epilogue = 0;
  Nanos compute;
  Bytes fixed_floor;                // the highest of the steps that belong to no block
  std::vector<Nanos> compute_from;  // time of each step and all after it
  Nanos store, restore;             // of all parcels, without latency
  Nanos least_step;                 // whatever else the plan does
  Bytes host, pinned;
};

}  // namespace stowage
