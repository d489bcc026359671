#include "tuner/free/pattern.h"

#include <algorithm>

#include "tuner/free/weight_sets.h"

namespace stowage {
namespace {

constexpr std::size_t most_parts = 6;

// Blocks next to each other that take one role: a segment, or a single block.
class Units {
 public:
  Units(PartPattern part, std::int64_t segment) {
    for (std::size_t r = 0; r < role_count; ++r) {
      const std::int64_t longest = static_cast<Role>(r) == Role::recompute ? segment : 1;
      blocks_[r] = part.blocks[r];
      all_[r] = units_[r] = (blocks_[r] + longest - 1) / longest;
      total_ += units_[r];
    }
  }

  bool empty() const { return total_ == taken_; }

  // The role that is furthest behind its share, or the first of which any are left.
  Role next(bool in_order) {
    ++taken_;
    std::size_t chosen = role_count;
    std::int64_t furthest = 0;
    for (std::size_t r = 0; r < role_count; ++r) {
      if (units_[r] == 0) continue;
      const std::int64_t behind = all_[r] * taken_ - (all_[r] - units_[r]) * total_;
      if (chosen < role_count && (in_order || behind <= furthest)) continue;
      chosen = r;
      furthest = behind;
    }
    return static_cast<Role>(chosen);
  }

  // How many blocks the next unit of the role has.
  std::int64_t take(Role role) {
    const auto r = static_cast<std::size_t>(role);
    const std::int64_t length = (blocks_[r] + units_[r] - 1) / units_[r];
    --units_[r];
    blocks_[r] -= length;
    return length;
  }

 private:
  std::array<std::int64_t, role_count> blocks_, units_, all_;  // left, left, at first
  std::int64_t total_ = 0, taken_ = 0;
};

void assign(Draft& draft, std::uint32_t block, Role role) {
  switch (role) {
    case Role::keep:
      return draft.keep(block, false);
    case Role::away:
      return draft.keep(block, true);
    case Role::recompute:
      return draft.recompute(block, {});
    case Role::recompute_attention:
      return draft.recompute(block, Scope::attention);
    case Role::recompute_ffn:
      return draft.recompute(block, Scope::ffn);
  }
}

void fill(Draft& draft, const Range& part, const PartPattern& wanted, const Pattern& pattern) {
  Units units(wanted, pattern.segment);
  for (std::uint32_t block = part.begin; !units.empty();) {
    const Role role = units.next(pattern.away_first);
    for (std::int64_t i = 0, length = units.take(role); i < length; ++i, ++block) {
      assign(draft, block, role);
      if (i > 0) draft.toggle_join(block);
      if (role == Role::recompute && i == 0 && block > 0 && pattern.inputs_travel) draft.toggle_input(block);
    }
  }
}

}  // namespace

std::vector<Range> parts_of(const BlockTable& table) {
  const std::vector<Range> groups = groups_of(table);
  if (groups.size() <= most_parts) return groups;
  std::vector<Range> equal;
  for (std::uint32_t part = 0; part < most_parts; ++part)
    equal.push_back({static_cast<std::uint32_t>(part * table.size() / most_parts),
                     static_cast<std::uint32_t>((part + 1) * table.size() / most_parts)});
  return equal;
}

Draft draft_of(const BlockTable& table, const std::vector<Range>& parts, const Pattern& pattern,
               const Draft& base) {
  Draft draft = base;
  draft.transfer = pattern.transfer;
  std::vector<std::uint32_t> swapped;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    fill(draft, parts[p], pattern.parts[p], pattern);
    const auto count = static_cast<std::uint32_t>(pattern.parts[p].swapped);
    for (std::uint32_t i = 0; i < count; ++i)
      swapped.push_back(parts[p].begin + (2 * i + 1) * parts[p].size() / (2 * count));
  }
  swap_weights(draft, table, swapped);
  return draft;
}

}  // namespace stowage
