#include "plan/optimizer_shares.h"

namespace stowage {
namespace {

__extension__ using Wide = __int128;

// What of `whole` the parts up to `part` take of `parts`, rounded down.
std::int64_t up_to(std::int64_t whole, std::int64_t part, std::int64_t parts) {
  return static_cast<std::int64_t>(static_cast<Wide>(whole) * part / parts);
}

}  // namespace

std::vector<OptimizerShare> optimizer_shares(const BlockTable& table) {
  const FixedCosts& fixed = table.fixed;
  std::int64_t total = 0;
  for (const BlockRow& row : table.rows) total += row.sizes.gradient.value;
  if (total == 0) return {{{}, fixed.optimizer, fixed.optimizer_state}};
  std::vector<OptimizerShare> shares;
  std::int64_t before = 0;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const std::int64_t gradient = table.rows[i].sizes.gradient.value;
    if (gradient == 0) continue;
    const auto part = [&](std::int64_t whole) {
      return up_to(whole, before + gradient, total) - up_to(whole, before, total);
    };
    shares.push_back({i, {part(fixed.optimizer.value)}, {part(fixed.optimizer_state.value)}});
    before += gradient;
  }
  return shares;
}

}  // namespace stowage
