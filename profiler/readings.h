// What is read off a model and off its steps, before it becomes a profile.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

// One compute step over all repeats. Sizes are the same in each, on a device that counts bytes exactly.
//
//   peak    |     .--.
//   after   |     |  '----
//   before  |-----'
struct StepReadings {
  std::vector<Nanos> times;
  Bytes before, peak, after;  // on the device: as the step begins, at most within it, as it ends

  Bytes rise() const { return peak - before; }
};

// A layer of a block whose weights can come and go by themselves.
struct LayerInventory {
  std::string name;
  Scope scope;
  Bytes weight;
};

// A block as it is, whatever it costs.
struct BlockInventory {
  std::string name;
  std::string group;    // "" where there is only one
  Bytes input, weight;  // X_i; what a swap moves
  Bytes gradient;       // of its trained parameters, weights or adapters
  std::vector<SavedTensor> saved;
  ByScope<Bytes> scope_input = {};  // as BlockSizes has it
  std::vector<LayerInventory> layers = {};
  Bytes handed_on = {};                      // of X_i, what X_{i+1} has in the same memory
  std::optional<Bytes> input_gradient = {};  // of X_i; absent: as large as X_i
  Bytes handed_on_gradient = {};             // what of it the gradient of X_{i+1} has in the same memory
};

struct Inventory {
  std::string name;
  std::vector<BlockInventory> blocks;
  Bytes output;           // X_n
  Bytes optimizer_state;  // all of it
};

struct LayerReadings {
  std::vector<Nanos> forward, backward;  // by repeat, with what ran until the next layer began
  // Of memory while it ran, above what lived as its step began; dropped: in a forward that saves nothing.
  Bytes forward_rise = {}, backward_rise = {}, dropped_rise = {};
};

struct BlockReadings {
  StepReadings forward, backward;
  Bytes dropped_rise;  // of a forward that saves nothing
  std::array<std::vector<Nanos>, scope_count> scope_forward;
  std::vector<LayerReadings> layers = {};  // as the inventory has them; empty where nothing was read
  // Where the scope is recomputed: of the forward that drops it, and of running it again.
  ByScope<Bytes> scope_dropped_rise = {}, scope_rise = {};
  LayerReadings rest = {};  // before the first layer; no times
};

// Steps of the plan that keeps everything.
struct ChainReadings {
  StepReadings prologue, epilogue, optimizer;
  std::vector<BlockReadings> blocks;
};

}  // namespace stowage
