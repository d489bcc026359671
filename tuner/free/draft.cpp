#include "tuner/free/draft.h"

#include <algorithm>
#include <numeric>

#include "plan/segments.h"

namespace stowage {
namespace {

// Storages that a plan may send, few of which hold `bytes`: the largest ones first, then without those that
// are not needed.
std::vector<std::uint32_t> storages_for(const BlockTable& table, const BlockDecision& decision,
                                        std::uint32_t block, Bytes bytes) {
  const auto all = table.storages_of(block);
  std::vector<std::uint32_t> order(all.size()), chosen;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].bytes > all[b].bytes; });
  Bytes sum;
  for (std::uint32_t s : order) {
    if (sum >= bytes) break;
    if (drops(decision, all[s]) || !all[s].can_travel()) continue;
    chosen.push_back(s);
    sum += all[s].bytes;
  }
  for (std::size_t k = 0; k < chosen.size();) {
    if (sum - all[chosen[k]].bytes < bytes) {
      ++k;
      continue;
    }
    sum -= all[chosen[k]].bytes;
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(k));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Draft::Draft(const BlockTable& table, const Plan& plan)
    : transfer(plan.transfer), table_(&table), blocks_(plan.blocks.size()), plan_(plan) {
  plan_.settings.reset();
  plan_.predicted.reset();
  plan_.bound.reset();
  for (std::uint32_t i = 0; i < size(); ++i) {
    blocks_[i] = {plan.blocks[i], i > 0 && same_segment(plan, i - 1, i)};
    blocks_[i].decision.segment.reset();
  }
}

Draft::Draft(const BlockTable& table, const std::vector<Treated>& treated)
    : table_(&table), blocks_(table.size()) {
  plan_.subject = {table.profile_name, table.digest};
  for (const auto& [treatment, travels, which] : treated) {
    for (std::uint32_t i = treatment.begin; i < treatment.end; ++i) {
      BlockDecision& decision = blocks_[i].decision;
      decision.activation = treatment.activation;
      decision.scope = treatment.scope;
      blocks_[i].joined = i > treatment.begin;
    }
    if (travels == Bytes{}) continue;
    BlockDecision& first = blocks_[treatment.begin].decision;
    if (which) {
      first.offload = which->storages;
      first.offload_input = which->input;
    } else {
      first.offload = storages_for(table, first, treatment.begin, travels);
    }
  }
}

const Plan& Draft::plan() {
  plan_.transfer = transfer;
  plan_.blocks.resize(blocks_.size());
  std::uint32_t segment = 0;
  for (std::uint32_t i = 0; i < size(); ++i) {
    BlockDecision& decision = plan_.blocks[i] = blocks_[i].decision;
    if (!whole(i)) continue;
    if (!blocks_[i].joined) ++segment;
    decision.segment = segment - 1;
  }
  return plan_;
}

bool Draft::whole(std::uint32_t block) const {
  return recomputed_whole(blocks_[block].decision);
}

bool Draft::can_join(std::uint32_t block) const {
  return block > 0 && whole(block) && whole(block - 1) &&
         table_->rows[block].group == table_->rows[block - 1].group;
}

void Draft::mend(std::uint32_t block) {
  for (std::uint32_t i = block; i < std::min(block + 2, size()); ++i) {
    blocks_[i].joined = blocks_[i].joined && can_join(i);
    if (blocks_[i].joined) blocks_[i].decision.offload_input = false;
  }
}

void Draft::keep(std::uint32_t block, bool all_travels) {
  BlockDecision& decision = blocks_[block].decision;
  decision = {Activation::keep, {}, {}, {}, false, decision.weights, decision.kept_layers};
  if (all_travels) {
    const auto storages = table_->storages_of(block);
    for (std::uint32_t s = 0; s < storages.size(); ++s)
      if (storages[s].can_travel()) decision.offload.push_back(s);
  }
  mend(block);
}

void Draft::recompute(std::uint32_t block, std::optional<Scope> scope) {
  BlockDecision& decision = blocks_[block].decision;
  decision = {Activation::recompute, scope, {}, {}, false, decision.weights, decision.kept_layers};
  mend(block);
}

void Draft::toggle_join(std::uint32_t block) {
  blocks_[block].joined = !blocks_[block].joined && can_join(block);
  mend(block);
}

void Draft::toggle_input(std::uint32_t block) {
  DraftBlock& changed = blocks_[block];
  if (changed.decision.activation == Activation::recompute && !changed.joined)
    changed.decision.offload_input = !changed.decision.offload_input;
}

void Draft::toggle_storage(std::uint32_t block, std::uint32_t storage) {
  BlockDecision& decision = blocks_[block].decision;
  if (drops(decision, table_->storages_of(block)[storage])) return;
  const auto place = std::lower_bound(decision.offload.begin(), decision.offload.end(), storage);
  if (place != decision.offload.end() && *place == storage)
    decision.offload.erase(place);
  else
    decision.offload.insert(place, storage);
}

// Only what happens to activations and weights as such; of blocks with other tensors nothing is exchanged.
void Draft::exchange(std::uint32_t a, std::uint32_t b) {
  std::swap(blocks_[a], blocks_[b]);
  mend(a);
  mend(b);
}

}  // namespace stowage
