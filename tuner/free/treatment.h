// What a plan may do with the activations of a run of blocks, and what that takes.
//
// Every free plan is a sequence of treatments, from the first block to the last:
//
//   blocks      0      1 2 3     4        5
//   treatment   keep   segment   ffn      keep, some of it on the host
//
// The figures are what any plan with this treatment takes at least: they count only what must be on the
// device, so that bounds made of them hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "traces/machine.h"

namespace stowage {

// Tensors that are on the host from the forward pass to the backward pass: bytes that leave the device, and
// what they take there once pinned.
struct Travel {
  Bytes bytes, pinned;
  std::vector<std::uint32_t> storages;
  bool input = false;
};

struct Treatment {
  std::uint32_t begin, end;  // blocks
  Activation activation;
  std::optional<Scope> scope;  // of one recomputed block: the part that is recomputed
  Bytes held;                  // from the forward pass to the backward pass
  Bytes movable;               // how much of that may be on the host meanwhile
  // In which ways, where these are few; otherwise any part of it may, of which a byte takes `pinned_by_byte`.
  std::vector<Travel> travels;
  double pinned_by_byte;
  // On the device, beside what earlier blocks hold, as its backward begins and at its highest step; far below
  // zero where that takes no time.
  Bytes resumes, peak;
  Bytes backward_peak;  // as `peak`, from where it resumes
  // Of one block all its steps work with its weights. Of a segment, the steps around its turn do with those
  // of all its blocks: this is the highest of them.
  Bytes peak_with_weights;
  Bytes weights;  // that are loaded where they are not resident; none where parts of them stream
  Nanos cost;     // of recomputing

  bool divisible() const { return travels.empty() && movable > Bytes{}; }
};

// Of each end, shorter runs first: treatments that no device of `room` bytes is too small for. `room` is what
// is left for activations and what belongs to a pass. Where gradients leave the device as they come,
// `gradients_stay` is false. Cost: linear in the treatments and their ways to travel.
std::vector<std::vector<Treatment>> list_treatments(const BlockTable& table, Bytes room, bool gradients_stay,
                                                    PinnedRounding rounding);

// On the device as the epilogue runs, beside what the blocks hold; far below zero where it takes no time.
Bytes epilogue_need(const BlockTable& table);

}  // namespace stowage
