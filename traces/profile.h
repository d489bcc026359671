// What one training step of a model costs, block by block, when nothing is dropped or moved.
//
// A profile says nothing about settings. Sizes are bytes on the device, times are nanoseconds of compute.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

// The part of a block that a tensor or a piece of time belongs to.
enum class Scope : std::uint8_t { attention, ffn, other };
inline constexpr int scope_count = 3;

// A figure for each scope, as far as it is known.
template <class Quantity>
using ByScope = std::array<std::optional<Quantity>, scope_count>;

// How a saved tensor lies in its storage, as far as it is known; strides and offset count elements.
struct TensorLayout {
  std::optional<std::string> dtype;
  std::optional<std::vector<std::int64_t>> shape, strides;
  std::int64_t storage_offset = 0;

  bool operator==(const TensorLayout&) const = default;
};

// A tensor that autograd keeps from a block's forward for its backward.
struct SavedTensor {
  std::string name;
  Bytes bytes;
  Scope scope = Scope::other;
  std::optional<TensorLayout> layout;
  // Tensors of one block that name the same storage are stored once; the storage is as large as its largest
  // tensor.
  std::optional<std::string> storage;
  // Not worth a copy, or not to be copied: it is dropped with its block, but never offloaded.
  bool stays = false;

  bool operator==(const SavedTensor&) const = default;
};

struct BlockTimes {
  Nanos forward, backward;
  // Half of the range that holds nine of ten repeats; 0 where it was not measured.
  Nanos forward_spread, backward_spread;
  // The forward's parts by scope; absent where not measured.
  ByScope<Nanos> scope_forward;

  bool operator==(const BlockTimes&) const = default;
};

struct BlockSizes {
  Bytes input;     // X_i, the activation that enters the block
  Bytes weight;    // what a block swap moves: adapter weights that stay on the device are in `fixed.resident`
  Bytes gradient;  // parameter gradients, from the block's backward until the optimizer has run
  Bytes forward_workspace, backward_workspace;
  // Workspace of a forward that saves nothing (the first pass of a recomputed block): tensors that would have
  // been saved die with their operator there. Absent: as `forward_workspace`.
  std::optional<Bytes> dropped_workspace;
  // What the forward of one scope starts from. Absent: attention starts from the block's input, the others
  // from a tensor as large.
  ByScope<Bytes> scope_input = {};
  // Where one scope is recomputed: the workspace of the first pass, which drops what the scope saves, and
  // that of the scope when it runs again. Absent: `dropped_workspace`, and `forward_workspace` with the
  // block's output.
  ByScope<Bytes> scope_dropped_workspace = {}, scope_workspace = {};
  // Autograd lets go of what was saved while the backward runs. Where that is more than it works in, the
  // backward never needs all gradients that it makes beside all that it goes back through, but so much less.
  Bytes backward_relief = {};
  // Of the input, what leaves the block again in the same memory (skip connections on their way).
  Bytes handed_on = {};
  // Of the input's gradient: absent, as large as the input; and what of the output's gradient it is in the
  // same memory.
  std::optional<Bytes> input_gradient = {};
  Bytes handed_on_gradient = {};
  // Where its layers stream: workspace while none of them runs. Absent: that of the whole block.
  std::optional<Bytes> rest_workspace = {};

  bool operator==(const BlockSizes&) const = default;
};

// A part of a block whose weights can come and go by themselves; without weights, a stretch of compute.
struct Layer {
  std::string name;
  Scope scope = Scope::other;
  Bytes weight;
  Nanos forward, backward;
  // What the block works in while this layer runs, where that is less than its workspace in that pass.
  std::optional<Bytes> workspace = {};

  bool operator==(const Layer&) const = default;
};

// One block, or `count` equal blocks in a row.
struct BlockProfile {
  std::string name;
  std::optional<std::string> group;
  std::int64_t count = 1;
  BlockTimes times;
  BlockSizes sizes;
  std::vector<SavedTensor> saved;
  // In the order of the forward pass; empty where they were not measured. Their figures add up to at most the
  // block's: weights that are left stay on the device, time that is left comes before the first layer.
  std::vector<Layer> layers;

  bool operator==(const BlockProfile&) const = default;
};

// What a step costs outside its blocks.
struct FixedCosts {
  Bytes resident;         // weights and buffers that always stay: embedding, head, adapters
  Bytes optimizer_state;  // all of it, on the device
  Bytes output;           // X_n, the activation that leaves the last block
  Bytes epilogue_bytes;   // workspace of the loss
  Nanos prologue, epilogue, optimizer;
  std::optional<Nanos> host_optimizer =
      {};  // an optimizer step on the host; absent where it was not measured

  bool operator==(const FixedCosts&) const = default;
};

// What else a run needs memory for, beside its training steps.
struct PhaseCosts {
  std::optional<Bytes> checkpoint;  // weights in their file; absent: as many bytes as on the device
  Bytes validation;                 // on the device while a validation runs: encoders, decoders, samples

  bool operator==(const PhaseCosts&) const = default;
};

struct Profile {
  std::string name;
  FixedCosts fixed;
  std::vector<BlockProfile> blocks;  // never empty
  bool segments_cross_groups = false;
  PhaseCosts phases;

  bool operator==(const Profile&) const = default;

  // Blocks with `count` expanded, all of count 1. Cost: one copy of each block.
  std::vector<BlockProfile> expanded() const;
  // 16 hex digits over the structure (names, groups, sizes, saved tensors) but not over times, so that
  // measuring the same model again gives the same digest.
  std::string digest() const;
};

// One storage that a block keeps, and the saved tensors that live in it.
struct SavedStorage {
  Bytes bytes;
  Scope scope;                         // of its first tensor
  std::vector<std::uint32_t> tensors;  // indices into `saved`
  bool stays = false;                  // one of them does

  // Whether there is anything to send to the host.
  bool can_travel() const { return !stays && bytes > Bytes{}; }
};

// The block's saved tensors, each storage once, in the order of their first tensor. Cost: linear.
std::vector<SavedStorage> storages(const BlockProfile& block);
// S_i: their sum.
Bytes saved_bytes(const BlockProfile& block);

// Reads and checks a profile. Of a block, only `forward_ns`, `backward_ns` and `input_bytes` are required, of
// a saved tensor `name` and `bytes`; a block without a name is "block.<position>"; other figures default to
// 0. Throws InputError with the path of the key, SystemError if the file cannot be read. Refuses unknown
// keys, wrong types, negative or overflowing figures and sums, and other versions.
Profile read_profile(const std::string& file);
Profile parse_profile(const std::string& text);
std::string to_json(const Profile& profile);

}  // namespace stowage
