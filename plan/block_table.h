// A profile with one row a block: counts expanded, storages resolved. Made once, then shared by everything
// that expands settings or compiles plans for the profile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/range.h"
#include "plan/state_memory.h"
#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

struct BlockRow {
  Nanos forward, backward;
  BlockSizes
      sizes;  // `dropped_workspace` and `input_gradient` always present; `scope_input` but for attention
  ByScope<Nanos> scope_forward;
  std::uint32_t group;  // changes where a run of blocks of one group ends
  Range storages;       // into BlockTable::storages
  Range layers;         // into BlockTable::layers
};

struct BlockTable {
  explicit BlockTable(const Profile& profile);

  std::string profile_name, digest;
  FixedCosts fixed;
  std::vector<BlockRow> rows;
  std::vector<SavedStorage> storages;
  std::vector<Layer> layers;
  StateMemory activations;  // X_0 .. X_n, as a forward pass makes them
  StateMemory gradients;    // of X_n .. X_1; that of X_0 belongs to the prologue

  std::uint32_t size() const { return static_cast<std::uint32_t>(rows.size()); }
  std::span<const SavedStorage> storages_of(std::uint32_t block) const;
  std::span<const Layer> layers_of(std::uint32_t block) const;
  // X_i, i in 0..size(): what enters block i, and for the last what leaves the chain.
  Bytes activation(std::uint32_t i) const { return i < size() ? rows[i].sizes.input : fixed.output; }
  // What of X_{i+1} block i makes.
  Bytes fresh_output(std::uint32_t i) const { return activation(i + 1) - rows[i].sizes.handed_on; }
  // Of X_i; what of it block i makes, in its backward.
  Bytes gradient(std::uint32_t i) const;
  Bytes fresh_gradient(std::uint32_t i) const;
};

// How much of what a backward makes comes only as it ends: of the gradient of the input, and of those of its
// parameters.
struct Relief {
  Bytes of_input_gradient, of_gradients;

  Bytes all() const { return of_input_gradient + of_gradients; }
};
Relief relief_of(const BlockTable& table, std::uint32_t block);

// How many layers of the block have weights that could stream.
std::uint32_t streamed_layers(const BlockTable& table, std::uint32_t block);

// Runs of blocks of one group, in order: settings count afresh over each.
std::vector<Range> groups_of(const BlockTable& table);

}  // namespace stowage
