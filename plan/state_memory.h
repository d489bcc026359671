// The memory of the states between blocks, where blocks hand on tensors that they have not changed.
//
//   X_1   |=own=|--s--|
//   X_2         |--s--|=own=|--t--|      s is of X_1, X_2 and X_3: one memory, there while one of them is
//   X_3         |--s--|=own=|
//
// A state that loses something loses what came last, as a stack does. Nothing is handed on in most chains:
// there all that a state has is its own.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/units.h"

namespace stowage {

// Of several states in a row: from the one with which it is made to the last that has it.
struct SharedPart {
  std::uint32_t first, last;
  Bytes bytes;

  bool is_of(std::uint32_t state) const {
    return first < last ? first <= state && state <= last : last <= state && state <= first;
  }
  std::uint32_t holders() const { return (first < last ? last - first : first - last) + 1; }
};

struct StateMemory {
  std::vector<Bytes> own;  // by state: what no other state has
  std::vector<SharedPart> shared;
};

// Of states in the order in which they are made; of state k, `handed_on[k]` bytes are of state k + 1, too.
// Cost: linear in the states and in the parts that each hands on.
StateMemory state_memory(const std::vector<Bytes>& sizes, const std::vector<Bytes>& handed_on);
// The same where states are made from the last to the first; of state k, `handed_on[k - 1]` bytes are of
// state k - 1, too.
StateMemory state_memory_backwards(std::vector<Bytes> sizes, std::vector<Bytes> handed_on);

}  // namespace stowage
