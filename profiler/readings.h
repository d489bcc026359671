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
};

struct Inventory {
  std::string name;
  std::vector<BlockInventory> blocks;
  Bytes output;           // X_n
  Bytes optimizer_state;  // all of it
};

struct LayerReadings {
  std::vector<Nanos> forward, backward;  // by repeat, with what ran until the next layer began
};

struct BlockReadings {
  StepReadings forward, backward;
  Bytes dropped_rise;  // of a forward that saves nothing
  std::array<std::vector<Nanos>, scope_count> scope_forward;
  std::vector<LayerReadings> layers = {};  // as the inventory has them; empty where nothing was read
  // Where the scope is recomputed: of the forward that drops it, and of running it again.
  ByScope<Bytes> scope_dropped_rise = {}, scope_rise = {};
};

// Steps of the plan that keeps everything.
struct ChainReadings {
  StepReadings prologue, epilogue, optimizer;
  std::vector<BlockReadings> blocks;
};

}  // namespace stowage
