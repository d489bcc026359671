#include "tuner/choices.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_set>

#include "plan/plan.h"

namespace stowage {
namespace {

// Shapes grow with the square of the values, swaps with the values, and the work on each with the chain.
constexpr double work_most = 22e6;

bool has(const auto& list, auto value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// What the plan does with each block, as a key.
std::string decisions_of(const Plan& plan) {
  std::string key;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const BlockDecision& block = plan.blocks[i];
    const bool continues = i > 0 && block.segment && plan.blocks[i - 1].segment == block.segment;
    key += block.activation == Activation::keep ? 'k' : continues ? 'c' : 's';
    if (block.offload_input) key += 'i';
    for (std::uint32_t storage : block.offload) key += std::to_string(storage) + ',';
  }
  return key;
}

// Which blocks the settings choose, and how they are grouped, whatever is then done with them.
std::vector<Settings> list_segmentings(const BlockTable& table, const SettingsSpace& space) {
  const std::vector<std::int64_t> values = list_values(table.size(), table.size());
  std::vector<Settings> all;
  std::unordered_set<std::string> seen;
  const auto add = [&](Settings settings) {
    if (seen.insert(decisions_of(expand(table, settings).plan)).second) all.push_back(settings);
  };
  Settings settings;
  settings.policy = Policy::recompute;
  for (Segmenting segmenting : {Segmenting::contiguous, Segmenting::every_nth}) {
    if (!has(space.segmentings, segmenting)) continue;
    settings.segmenting = segmenting;
    for (std::int64_t interval : values) {
      settings.interval = interval;
      settings.stride.reset();
      add(settings);
      for (std::int64_t stride : values) {
        if (stride < interval) continue;
        settings.stride = stride;
        add(settings);
      }
    }
  }
  return all;
}

std::vector<Settings> variants(const SettingsSpace& space, const Settings& segmenting) {
  std::vector<Settings> all;
  for (Policy policy : {Policy::recompute, Policy::offload, Policy::recompute_offload}) {
    if (!has(space.policies, policy)) continue;
    Settings settings = segmenting;
    settings.policy = policy;
    all.push_back(settings);
    if (policy != Policy::offload) continue;
    for (Scope scope : {Scope::attention, Scope::ffn, Scope::other}) {
      settings.scope = scope;
      all.push_back(settings);
    }
  }
  return all;
}

}  // namespace

bool is_frozen(const BlockRow& row) {
  return row.sizes.gradient < row.sizes.weight;
}

Residence swapped(const BlockRow& row) {
  return is_frozen(row) ? Residence::h2d : Residence::two_way;
}

std::vector<std::int64_t> list_values(std::int64_t most, std::uint32_t blocks) {
  const auto few = static_cast<std::size_t>(std::cbrt(work_most / std::max(1U, blocks)));
  std::vector<std::int64_t> values;
  for (std::int64_t percent = 0;; ++percent) {
    values.clear();
    for (std::int64_t value = 1; value < most; value = std::max(value + 1, value + value * percent / 100))
      values.push_back(value);
    if (most > 0) values.push_back(most);
    if (values.size() <= few || percent == 100) return values;
  }
}

std::vector<Settings> list_shapes(const BlockTable& table, const SettingsSpace& space) {
  std::vector<Settings> all;
  std::unordered_set<std::string> seen;
  const auto add = [&](const Settings& settings) {
    if (seen.insert(decisions_of(expand(table, settings).plan)).second) all.push_back(settings);
  };
  add({});
  for (const Settings& segmenting : list_segmentings(table, space))
    for (const Settings& settings : variants(space, segmenting)) add(settings);
  return all;
}

std::int64_t most_swapped(const BlockTable& table, const SettingsSpace& space) {
  const std::int64_t all_but_one = table.size() - 1;
  return std::min(space.max_swap_blocks.value_or(all_but_one), all_but_one);
}

SwapChoice choose_swap(const BlockTable& table, const CopyCosts& costs, const SwapSettings& swap) {
  Settings settings;
  settings.swap = swap;
  const Plan plan = expand(table, settings).plan;
  SwapChoice choice;
  choice.settings = swap;
  choice.loaded.resize(table.size());
  bool frozen = true;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const Cargo& weights = costs.weights[i];
    if (plan.blocks[i].weights == Residence::resident) {
      choice.resident += weights.bytes;
      continue;
    }
    choice.blocks.push_back(i);
    choice.loaded[i] = weights.bytes;
    choice.host += weights.bytes;
    choice.pinned += weights.pinned;
    choice.load += weights.restore;
    choice.longest_load = std::max(choice.longest_load, weights.restore);
    frozen = frozen && is_frozen(table.rows[i]);
  }
  choice.settings.mode = frozen ? SwapMode::h2d : SwapMode::two_way;
  return choice;
}

std::vector<SwapChoice> list_swaps(const BlockTable& table, const CopyCosts& costs,
                                   const SettingsSpace& space) {
  std::vector<SwapChoice> all{choose_swap(table, costs, {})};
  std::set<std::vector<std::uint32_t>> seen{{}};
  for (std::int64_t count : list_values(most_swapped(table, space), table.size())) {
    for (SwapWhich which : {SwapWhich::last, SwapWhich::first, SwapWhich::spread}) {
      SwapChoice choice = choose_swap(table, costs, {count, which, SwapMode::h2d});
      if (seen.insert(choice.blocks).second) all.push_back(std::move(choice));
    }
  }
  return all;
}

}  // namespace stowage
