#include "tuner/free/weight_sets.h"

#include <algorithm>
#include <numeric>

#include "tuner/settings_space.h"

namespace stowage {
namespace {

constexpr std::size_t more_than_needed = 2;

std::vector<std::uint32_t> spread_over(const std::vector<std::uint32_t>& blocks, std::size_t count) {
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(blocks[i * blocks.size() / count]);
  return some;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> weight_sets(const BlockTable& table, Bytes away) {
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (table.rows[i].sizes.weight > Bytes{}) heavy.push_back(i);
  std::vector<std::vector<std::uint32_t>> sets;
  if (away == Bytes{}) return {{}};
  const auto weight_of = [&](const std::vector<std::uint32_t>& blocks) {
    Bytes sum;
    for (std::uint32_t i : blocks) sum += table.rows[i].sizes.weight;
    return sum;
  };
  const auto with = [&](const auto& choose) {
    std::size_t count = 1;
    while (count < heavy.size() && weight_of(choose(count)) < away) ++count;
    for (std::size_t more = 0; more <= more_than_needed && count + more <= heavy.size(); ++more)
      sets.push_back(choose(count + more));
  };
  const auto part = [](auto begin, std::size_t count) {
    return std::vector<std::uint32_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  with([&](std::size_t count) { return part(heavy.end() - static_cast<std::ptrdiff_t>(count), count); });
  with([&](std::size_t count) { return part(heavy.begin(), count); });
  with([&](std::size_t count) { return spread_over(heavy, count); });
  return sets;
}

void swap_weights(Draft& draft, const BlockTable& table, const std::vector<std::uint32_t>& blocks) {
  for (std::uint32_t i = 0; i < draft.size(); ++i) draft.set_weights(i, Residence::resident);
  for (std::uint32_t i : blocks) draft.set_weights(i, swapped(table.rows[i]));
}

}  // namespace stowage
