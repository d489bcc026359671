#include "tests/simulator/random_plan.h"

#include <random>

#include "plan/block_table.h"

namespace stowage::tests {
namespace {

class PlanDice {
 public:
  PlanDice(const Profile& profile, std::uint64_t seed) : table_(profile), generator_(seed) {}

  Plan roll() {
    plan_.subject = {table_.profile_name, table_.digest};
    plan_.transfer = {below(3), 1 + below(2), 1 + below(2), {}, {}, {}};
    if (below(2) == 0) plan_.transfer.disk_over = Bytes{below(2) == 0 ? 0 : below(60)};
    plan_.step = {1 + below(3), static_cast<OptimizerPlace>(below(4))};
    plan_.blocks.resize(table_.size());
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      decide_activation(i);
      decide_offload(i);
      decide_weights(i);
    }
    return plan_;
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(generator_() % limit); }

  void decide_activation(std::uint32_t i) {
    BlockDecision& decision = plan_.blocks[i];
    const std::uint32_t kind = below(3);
    if (kind == 0) return;
    decision.activation = Activation::recompute;
    decision.offload_input = below(2) == 0;
    if (kind == 1) {
      decision.scope = static_cast<Scope>(below(scope_count));
      return;
    }
    const bool may_continue =
        i > 0 && plan_.blocks[i - 1].segment && table_.rows[i].group == table_.rows[i - 1].group;
    if (may_continue && below(2) == 0) {
      decision.segment = plan_.blocks[i - 1].segment;
      decision.offload_input = false;
    } else {
      decision.segment = segments_++;
    }
  }

  void decide_offload(std::uint32_t i) {
    BlockDecision& decision = plan_.blocks[i];
    const auto storages = table_.storages_of(i);
    for (std::uint32_t s = 0; s < storages.size(); ++s) {
      const bool saved =
          decision.activation == Activation::keep || (decision.scope && storages[s].scope != *decision.scope);
      if (saved && below(2) == 0) decision.offload.push_back(s);
    }
  }

  void decide_weights(std::uint32_t i) {
    BlockDecision& decision = plan_.blocks[i];
    const std::uint32_t layers = streamed_layers(table_, i);
    decision.weights = static_cast<Residence>(below(layers > 0 ? 4 : 3));
    if (decision.weights == Residence::stream && below(2) == 0) decision.kept_layers = below(layers + 1);
  }

  const BlockTable table_;
  std::mt19937_64 generator_;
  Plan plan_;
  std::uint32_t segments_ = 0;
};

}  // namespace

Plan random_plan(const Profile& profile, std::uint64_t seed) {
  return PlanDice(profile, seed).roll();
}

Program compiled(const reference::Case& random, std::uint64_t seed) {
  const BlockTable table(random.profile);
  return compile(table,
                 seed % 2 == 1 ? random_plan(random.profile, seed) : expand(table, random.settings).plan);
}

}  // namespace stowage::tests
