#include "tests/tuner/every_setting.h"

#include <algorithm>
#include <set>
#include <string>

#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/engine.h"

namespace stowage::tests {
namespace {

// Policies and how they choose blocks.
std::vector<Settings> every_shape(std::int64_t blocks, const SettingsSpace& space) {
  std::vector<Settings> all;
  std::vector<Policy> policies = space.policies;
  policies.push_back(Policy::keep);
  for (Policy policy : policies) {
    for (Segmenting segmenting : space.segmentings) {
      for (std::int64_t interval = 1; interval <= blocks + 1; ++interval) {
        for (std::int64_t stride = interval - 1; stride <= blocks + 2; ++stride) {
          Settings settings;
          settings.policy = policy;
          settings.segmenting = segmenting;
          settings.interval = interval;
          if (stride >= interval) settings.stride = stride;
          all.push_back(settings);
          if (policy != Policy::offload) continue;
          for (Scope scope : {Scope::attention, Scope::ffn, Scope::other}) {
            settings.scope = scope;
            all.push_back(settings);
          }
        }
      }
    }
  }
  return all;
}

bool drops_weights_that_change(const BlockTable& table, const Plan& plan) {
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (plan.blocks[i].weights == Residence::h2d &&
        table.rows[i].sizes.gradient >= table.rows[i].sizes.weight)
      return true;
  return false;
}

bool stores_nothing_but_frozen(const BlockTable& table, const Plan& plan) {
  bool swaps = false;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if (plan.blocks[i].weights != Residence::two_way) continue;
    swaps = true;
    if (table.rows[i].sizes.gradient >= table.rows[i].sizes.weight) return false;
  }
  return swaps;
}

std::vector<SwapSettings> every_swap(const BlockTable& table, const SettingsSpace& space) {
  std::vector<SwapSettings> all{{}};
  const std::int64_t most = space.max_swap_blocks.value_or(table.size() + 1);
  for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
    for (SwapWhich which : {SwapWhich::last, SwapWhich::first, SwapWhich::spread}) {
      for (SwapMode mode : {SwapMode::h2d, SwapMode::two_way}) {
        Settings settings;
        settings.swap = {blocks, which, mode};
        const Plan plan = expand(table, settings).plan;
        if (!drops_weights_that_change(table, plan) && !stores_nothing_but_frozen(table, plan))
          all.push_back(settings.swap);
      }
    }
  }
  return all;
}

// What a plan decides, so that plans that are the same are simulated once.
std::string key_of(const Plan& plan) {
  std::string key = std::to_string(plan.transfer.prefetch) + (plan.transfer.h2d_streams > 1 ? "s" : "o") +
                    (plan.transfer.d2h_streams > 1 ? "s" : "o");
  for (const BlockDecision& block : plan.blocks) {
    key += '|';
    if (block.segment) key += std::to_string(*block.segment);
    if (block.offload_input) key += 'i';
    key += block.weights == Residence::resident ? 'r' : block.weights == Residence::h2d ? 'h' : 't';
    for (std::uint32_t storage : block.offload) key += std::to_string(storage) + ',';
  }
  return key;
}

}  // namespace

void for_every_setting(const BlockTable& table, const SettingsSpace& space,
                       const std::function<void(const Settings&)>& visit) {
  const std::vector<SwapSettings> swaps = every_swap(table, space);
  for (Settings settings : every_shape(table.size(), space)) {
    for (const SwapSettings& swap : swaps) {
      settings.swap = swap;
      for (std::int64_t prefetch = 0; prefetch <= space.max_prefetch; ++prefetch) {
        for (std::int64_t h2d = 1; h2d <= space.max_streams; ++h2d) {
          for (std::int64_t d2h = 1; d2h <= space.max_streams; ++d2h) {
            settings.transfer = {prefetch, h2d, d2h, {}, {}};
            visit(settings);
          }
        }
      }
    }
  }
}

std::vector<Price> price_every_setting(const BlockTable& table, const Machine& machine,
                                       const SettingsSpace& space) {
  std::set<std::string> seen;
  std::set<Price> prices;
  Engine engine(machine);
  for_every_setting(table, space, [&](const Settings& settings) {
    const Plan plan = expand(table, settings).plan;
    if (!seen.insert(key_of(plan)).second) return;
    const Run run = engine.simulate(compile(table, plan)).run;
    prices.insert({run.peaks.on_device(), run.step, run.peaks.host, run.peaks.host_pinned});
  });
  return {prices.begin(), prices.end()};
}

std::vector<Price> frontier_of(const std::vector<Price>& prices, const Budget& budget) {
  std::vector<Price> frontier;
  for (const Price& price : prices) {
    if (price.host > budget.host || price.pinned > budget.pinned) continue;
    if (frontier.empty() || price.step < frontier.back().step) frontier.push_back(price);
  }
  return frontier;
}

}  // namespace stowage::tests
