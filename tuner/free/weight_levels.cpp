#include "tuner/free/weight_levels.h"

#include <algorithm>
#include <map>

namespace stowage {
namespace {

constexpr std::size_t most_sums = 4096, sums_apart = 160;

std::vector<std::int64_t> unique(std::vector<std::int64_t> sums) {
  std::sort(sums.begin(), sums.end());
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  return sums;
}

}  // namespace

std::vector<WeightLevel> weight_levels(const BlockTable& table) {
  std::map<std::int64_t, std::int64_t> blocks;  // how many weigh as much
  for (const BlockRow& row : table.rows)
    if (row.sizes.weight > Bytes{}) ++blocks[row.sizes.weight.value];
  std::vector<std::int64_t> sums{0};
  Bytes all;
  bool complete = table.layers.empty();  // parts of blocks may stream
  for (const auto& [weight, count] : blocks) {
    all += Bytes{weight} * count;
    complete = complete && sums.size() * static_cast<std::size_t>(count + 1) <= most_sums;
    if (!complete) continue;
    std::vector<std::int64_t> more;
    for (std::int64_t sum : sums)
      for (std::int64_t k = 0; k <= count; ++k) more.push_back(sum + k * weight);
    sums = unique(std::move(more));
  }
  std::vector<WeightLevel> levels;
  if (!complete) {  // any sum at all
    levels.push_back({});
    const auto parts = static_cast<std::int64_t>(sums_apart);
    for (std::int64_t part = 0; part < parts; ++part)
      levels.push_back({Bytes{all.value / parts * part + 1},
                        Bytes{part + 1 == parts ? all.value : all.value / parts * (part + 1)}});
    return levels;
  }
  const std::size_t together = (sums.size() - 1) / sums_apart + 1;
  levels.push_back({});
  for (std::size_t i = 1; i < sums.size(); i += together)
    levels.push_back({Bytes{sums[i]}, Bytes{sums[std::min(i + together, sums.size()) - 1]}});
  return levels;
}

}  // namespace stowage
