// What happens in a step, and in which order, but not when: blocks as the settings want them, the compute
// order, the uses of swapped weights, the restores, and what travels for the optimizer. The first half of the
// reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "traces/profile.h"

namespace stowage::reference {

using Int = std::int64_t;

// A saved storage.
struct Tensor {
  Int bytes;
  Scope scope;
  bool again = false;  // dropped by the forward, made again by the recomputation
};

struct Block {
  BlockProfile profile;
  std::vector<Tensor> saved;
  // What settings or a plan decide.
  bool in_segment = false, first_of_segment = false, last_of_segment = false;
  bool recomputed = false;     // all of it, or
  std::optional<Scope> scope;  // this part
  bool swapped = false, two_way = false, streamed = false;
  Int kept = 0;  // streamed layers that stay
  std::vector<Int>
      offloaded;             // bytes of each thing that travels: an input, or tensors in the profile's order
  bool sends_input = false;  // the first of them is the block's own input

  // What the recomputed part starts from, beside the block's own input.
  Int part_input() const;
  // How long the recomputation takes.
  Int again() const;
  // Weights that do not stay on the device.
  Int away() const;
};

enum class Kind : std::uint8_t { prologue, forward, epilogue, recompute, backward, optimizer };

struct Step {
  Kind kind;
  int block;  // of forward, recompute and backward; of an optimizer step -1 where it is for all
  Int length;
  int pass = 0;
  int layer = -1;                   // of a streamed block: the layer, -1 for what is left
  bool starts = true, ends = true;  // of the block's steps in a row
};

// A stretch of the compute lane for which weights must be there: a swapped block's, or a layer's.
struct Use {
  int block, layer, pass;
  Int bytes;
  std::size_t first_step, last_step;
  bool loaded = false;
  bool stored = false;  // two-way: the store after it has ended
};

struct Traveller {
  Int bytes;
  bool stored = false, restored = false;
  bool pageable = false;
  bool leaves = false, written = false, read = false;  // for the disk, and back from it

  bool back_on_host() const { return leaves ? read : stored; }
};

// All that one block sent away in a pass, and the step that needs it back.
struct Restore {
  int block, pass;
  std::size_t step;
  std::vector<Traveller> tensors;
};

// Optimizer states on their way to the step that needs them.
struct StateLoad {
  std::size_t step;
  Int bytes;
  bool loaded = false;
  bool read = false, stored = false;  // where states are on the disk
};

struct Order {
  std::vector<Block> blocks;
  std::vector<Step> steps;        // of the compute lane
  std::vector<Use> uses;          // in the order of need
  std::vector<Restore> restores;  // in the order of need
  std::vector<StateLoad> states;  // the same
  StepSettings step;
};

// Throws std::invalid_argument where the stride is below the interval.
Order order_of(const Profile& profile, const Settings& settings);
// What of `restores` leaves for the disk: all of a pass but the last that fit within so many bytes.
void choose_leaving(std::vector<Restore>& restores, Int stays);
// What a plan's blocks say, taken by their word.
Order order_of(const Profile& profile, const Plan& plan);

}  // namespace stowage::reference
