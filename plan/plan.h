// A plan: one decision per block. Settings expand to a plan; a free plan decides without settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/block_table.h"
#include "plan/settings.h"
#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

enum class Activation : std::uint8_t { keep, recompute };

enum class Residence : std::uint8_t { resident, h2d, two_way, stream };

struct BlockDecision {
  Activation activation = Activation::keep;
  // Recompute only this part of the block: the saved tensors of the other scopes stay, and what the part
  // starts from (see BlockSizes::scope_input).
  std::optional<Scope> scope;
  // Consecutive blocks recomputed whole, with the same number, are one segment; absent for other blocks.
  std::optional<std::uint32_t> segment;
  // Storages (see storages()) that travel to the host, ascending; only such as the forward pass saves,
  // and the profile does not keep.
  std::vector<std::uint32_t> offload;
  // What the recomputation starts from travels too; only at a segment's first block, or with a scope.
  bool offload_input = false;
  Residence weights = Residence::resident;
  // Of `stream`: how many of the layers that have weights, from the last, keep them until the backward pass.
  std::uint32_t kept_layers = 0;

  bool operator==(const BlockDecision&) const = default;
};

// What a plan was made for. A plan for another profile is refused.
struct PlanSubject {
  std::string profile;
  std::string digest;

  bool operator==(const PlanSubject&) const = default;
};

// What the simulator said of the plan when it was made.
struct Prediction {
  Nanos step, compute, stall;
  Bytes device_peak, host_activation_peak, host_pinned_peak;

  bool operator==(const Prediction&) const = default;
};

struct Plan {
  PlanSubject subject;
  std::optional<Settings> settings;  // absent: a free plan
  TransferSettings transfer;
  StepSettings step;
  std::vector<BlockDecision> blocks;  // one for each expanded block
  std::optional<Prediction> predicted;
  std::optional<Nanos> bound;  // no plan in the searched space is faster under the same budget

  bool operator==(const Plan&) const = default;
};

struct Expansion {
  Plan plan;
  std::vector<std::string> warnings;  // a clamped swap count, a setting that has no effect
};

// Settings -> Plan. Throws InputError as check() does. Cost: linear in the blocks.
Expansion expand(const BlockTable& table, const Settings& settings);

// Throws InputError where a plan contradicts itself or is not for this profile.
void check(const Plan& plan, const BlockTable& table);
// Throws InputError naming "optimizer" where the profile does not know what it would take there.
void check_optimizer(const StepSettings& step, const BlockTable& table);

// As for profiles. Reading needs the profile, since offloaded tensors are named in the file; a plan for
// another profile is refused.
Plan read_plan(const std::string& file, const Profile& profile);
Plan parse_plan(const std::string& text, const Profile& profile);
std::string to_json(const Plan& plan, const Profile& profile);

}  // namespace stowage
