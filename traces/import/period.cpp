#include "traces/import/period.h"

#include <algorithm>
#include <span>

namespace stowage {
namespace {

using Tokens = std::span<const std::uint64_t>;

std::optional<Repeat> most_covering(Tokens tokens, std::size_t longest, std::size_t least_count) {
  std::optional<Repeat> best;
  for (std::size_t length = 1; length <= std::min(longest, tokens.size() / 2); ++length) {
    std::size_t equal = 0;
    for (std::size_t at = 0; at + length <= tokens.size(); ++at) {
      const bool same = at + length < tokens.size() && tokens[at] == tokens[at + length];
      equal = same ? equal + 1 : equal;
      if (same) continue;
      const Repeat found{at - equal, length, equal / length + 1};
      equal = 0;
      if (found.count < least_count) continue;
      if (!best || found.length * found.count > best->length * best->count) best = found;
    }
  }
  return best;
}

}  // namespace

std::vector<Repeat> repeats_in(const std::vector<std::uint64_t>& tokens, std::size_t longest) {
  const std::optional<Repeat> outer = most_covering(tokens, longest, 2);
  if (!outer) return {};
  const Tokens pass = Tokens(tokens).subspan(outer->begin, outer->length);
  const std::optional<Repeat> inner = most_covering(pass, longest, 3);
  if (!inner || inner->length * inner->count * 10 < outer->length * 7) return {*outer};
  std::vector<Repeat> all;
  for (std::size_t i = 0; i < outer->count; ++i) {
    all.push_back({outer->begin + i * outer->length + inner->begin, inner->length, inner->count});
  }
  return all;
}

}  // namespace stowage
