#include "tuner/free/exhaustion.h"

#include <algorithm>
#include <vector>

#include "plan/segments.h"
#include "tuner/settings_space.h"

namespace stowage {
namespace {

constexpr std::size_t most_storages = 8;  // whose subsets are listed

struct Possibility {
  BlockDecision decision;
  bool joined = false;
};

// With each subset of the storages that the forward pass saves.
void put(const BlockTable& table, std::uint32_t block, BlockDecision decision,
         std::vector<Possibility>& all) {
  std::vector<std::uint32_t> saved;
  const auto storages = table.storages_of(block);
  for (std::uint32_t s = 0; s < storages.size(); ++s)
    if (storages[s].can_travel() && !drops(decision, storages[s])) saved.push_back(s);
  for (std::uint32_t subset = 0; subset < 1U << saved.size(); ++subset) {
    decision.offload.clear();
    for (std::size_t k = 0; k < saved.size(); ++k)
      if (subset >> k & 1) decision.offload.push_back(saved[k]);
    all.push_back({decision});
  }
}

void put_recomputations(const BlockTable& table, std::uint32_t block, BlockDecision decision,
                        std::vector<Possibility>& all) {
  const BlockRow& row = table.rows[block];
  decision.activation = Activation::recompute;
  if (block > 0 && table.rows[block - 1].group == row.group) all.push_back({decision, true});
  for (bool input : {false, true}) {
    decision.offload_input = input;
    all.push_back({decision});
    for (Scope scope : {Scope::attention, Scope::ffn, Scope::other}) {
      if (!row.scope_forward[static_cast<std::size_t>(scope)]) continue;
      BlockDecision part = decision;
      part.scope = scope;
      put(table, block, part, all);
    }
  }
}

std::vector<Possibility> possibilities(const BlockTable& table, std::uint32_t block) {
  std::vector<Possibility> all;
  const BlockRow& row = table.rows[block];
  for (bool away : {false, true}) {
    if (away && row.sizes.weight == Bytes{}) continue;
    BlockDecision decision;
    if (away) decision.weights = swapped(row);
    put(table, block, decision, all);
    put_recomputations(table, block, decision, all);
  }
  return all;
}

class Visitor {
 public:
  Visitor(const BlockTable& table, const std::function<void(const Plan&)>& visit)
      : table_(table), visit_(visit) {
    plan_.subject = {table.profile_name, table.digest};
    plan_.blocks.resize(table.size());
    for (std::uint32_t i = 0; i < table.size(); ++i) possibilities_.push_back(possibilities(table, i));
  }

  void from(std::uint32_t block, std::uint32_t segments) {
    if (block == table_.size()) return visit_transfers();
    for (const auto& [decision, joined] : possibilities_[block]) {
      plan_.blocks[block] = decision;
      std::uint32_t now = segments;
      if (recomputed_whole(decision)) {
        if (joined && !plan_.blocks[block - 1].segment) continue;
        if (!joined) ++now;
        plan_.blocks[block].segment = now - 1;
      }
      from(block + 1, now);
    }
  }

 private:
  void visit_transfers() {
    for (std::int64_t prefetch = 0; prefetch <= table_.size(); ++prefetch)
      for (std::int64_t streams = 0; streams < 4; ++streams) {
        plan_.transfer.prefetch = prefetch;
        plan_.transfer.h2d_streams = 1 + streams % 2;
        plan_.transfer.d2h_streams = 1 + streams / 2;
        visit_(plan_);
      }
  }

  const BlockTable& table_;
  const std::function<void(const Plan&)>& visit_;
  std::vector<std::vector<Possibility>> possibilities_;
  Plan plan_;
};

}  // namespace

std::int64_t count_plans(const BlockTable& table, std::int64_t most) {
  std::int64_t count = 4 * (static_cast<std::int64_t>(table.size()) + 1);
  for (std::uint32_t i = 0; i < table.size() && count < most; ++i)
    count = table.storages_of(i).size() > most_storages
                ? most
                : count * static_cast<std::int64_t>(possibilities(table, i).size());
  return std::min(count, most);
}

void visit_plans(const BlockTable& table, const std::function<void(const Plan&)>& visit) {
  Visitor(table, visit).from(0, 0);
}

}  // namespace stowage
