// A free plan while it is being made: what each block does, in a form that is easy to change.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "tuner/free/relaxation.h"
#include "tuner/free/treatment.h"

namespace stowage {

struct DraftBlock {
  BlockDecision decision;  // but for its segment's number
  bool joined = false;     // recomputed whole, in one segment with the block before

  bool operator==(const DraftBlock&) const = default;
};

class Draft {
 public:
  // Of a plan without kept layers.
  Draft(const BlockTable& table, const Plan& plan);
  // Of treatments that cover the chain. Of a block's tensors as few travel as hold what is to travel.
  Draft(const BlockTable& table, const std::vector<Treated>& treated);

  // A free plan for the table's profile. Cost: linear in the blocks.
  const Plan& plan();

  // Each leaves a plan that check() allows: what a segment loses its head to begins a segment of its own.
  void keep(std::uint32_t block, bool all_travels);
  void recompute(std::uint32_t block, std::optional<Scope> scope);
  void toggle_join(std::uint32_t block);
  void toggle_input(std::uint32_t block);
  void toggle_storage(std::uint32_t block, std::uint32_t storage);
  void exchange(std::uint32_t a, std::uint32_t b);

  bool operator==(const Draft& other) const { return blocks_ == other.blocks_ && transfer == other.transfer; }
  bool whole(std::uint32_t block) const;  // recomputed whole
  bool same(std::uint32_t a, std::uint32_t b) const { return blocks_[a] == blocks_[b]; }
  const BlockDecision& decision(std::uint32_t block) const { return blocks_[block].decision; }
  void set_weights(std::uint32_t block, Residence weights) { blocks_[block].decision.weights = weights; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }

  TransferSettings transfer;

 private:
  bool can_join(std::uint32_t block) const;
  // After a block has changed: those that were joined to it, or it to another, and may be no longer.
  void mend(std::uint32_t block);

  const BlockTable* table_;
  std::vector<DraftBlock> blocks_;
  Plan plan_;
};

}  // namespace stowage
