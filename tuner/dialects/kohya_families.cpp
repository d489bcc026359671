#include "tuner/dialects/kohya_families.h"

#include <algorithm>
#include <cmath>

#include "traces/error.h"
#include "tuner/dialects/option_reader.h"
#include "tuner/dialects/rotation.h"
#include "tuner/dialects/trainer.h"

namespace stowage {
namespace {

using Lists = std::vector<Range>;

// What the lists are called does not matter: their order does.
Lists lists_of(const KohyaFamily& family, const BlockTable& table) {
  if (family.split == SwapSplit::one_list || family.split == SwapSplit::none) return {{0, table.size()}};
  Lists groups = groups_of(table);
  if (groups.size() != 2)
    refuse_option("family", std::string(family.name) +
                                " has two lists of blocks: expected a profile with two "
                                "groups of them, not " +
                                std::to_string(groups.size()));
  return groups;
}

// flux_2_models.py rounds half to even, as nearbyint does.
std::pair<std::int64_t, std::int64_t> by_ratio(std::int64_t n, std::int64_t doubles, std::int64_t singles) {
  const double ratio = static_cast<double>(singles) / static_cast<double>(doubles);
  auto first = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(n) / (1.0 + ratio / 2.0)));
  auto second = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(first) * ratio));
  if (doubles * 2 < singles)
    while (first >= 1 && first > doubles - 2) --first, second += 2;
  else
    while (second >= 2 && second > singles - 2) second -= 2, ++first;
  if (first == 0 && second == 0) (singles >= doubles ? second : first) = 1;
  return {first, second};
}

// Of each list; absent where it is more than can be.
std::optional<std::vector<Away>> shared(const KohyaFamily& family, const Lists& lists, std::int64_t n) {
  if (n > family.limit) return {};
  std::vector<std::int64_t> counts{n};
  if (family.split == SwapSplit::halves) counts = {n / 2, (n - n / 2) * 2};
  if (family.split == SwapSplit::halves_1) counts = {n / 2, (n - n / 2) * 2 + 1};
  if (family.split == SwapSplit::by_ratio) {
    const auto [first, second] = by_ratio(n, lists[0].size(), lists[1].size());
    counts = {first, second};
  }
  std::vector<Away> away;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (counts[i] > std::int64_t{lists[i].size()} - family.stay) return {};
    away.push_back({lists[i], counts[i]});
  }
  return away;
}

}  // namespace

std::vector<Away> away_of(const KohyaFamily& family, const BlockTable& table, std::int64_t blocks_to_swap) {
  if (blocks_to_swap <= 0 || family.split == SwapSplit::none) return {};
  const Lists lists = lists_of(family, table);
  if (auto away = shared(family, lists, blocks_to_swap)) return *away;
  refuse_option("blocks_to_swap", "cannot swap " + std::to_string(blocks_to_swap) +
                                      " blocks of this model: at most " +
                                      std::to_string(most_away(family, table)));
}

std::int64_t most_away(const KohyaFamily& family, const BlockTable& table) {
  if (family.split == SwapSplit::none) return 0;
  const Lists lists = lists_of(family, table);
  std::int64_t n = 0;
  while (n <= std::int64_t{table.size()} && shared(family, lists, n + 1)) ++n;
  return n;
}

std::vector<std::string> names_of(std::span<const KohyaFamily> families) {
  std::vector<std::string> names;
  for (const KohyaFamily& family : families) names.emplace_back(family.name);
  return names;
}

const KohyaFamily& family_in(std::span<const KohyaFamily> families, const std::string& name) {
  for (const KohyaFamily& family : families)
    if (family.name == name) return family;
  refuse_family("family", name, names_of(families));
}

std::string family_of_script(std::span<const KohyaFamily> families, const std::string& command) {
  for (const KohyaFamily& family : families)
    if (command.find(family.script) != std::string::npos) return std::string(family.name);
  return "";
}

}  // namespace stowage
