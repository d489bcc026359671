#include "traces/import/period.h"

#include <algorithm>
#include <span>

namespace stowage {
namespace {

using Tokens = std::span<const std::uint64_t>;

// How many tokens may be compared: enough for all lengths of some ten thousand tokens, and for the short ones
// of any recording. Long repeats of little cost the most, and are found first.
std::size_t comparisons_for(Tokens tokens) {
  return (std::size_t{1} << 25) + 256 * tokens.size();
}

// Equal neighbours are at least `length` places in a row whose tokens come again `length` on: a look at every
// `length`-th place misses none.
std::optional<Repeat> most_covering(Tokens tokens, std::size_t longest, std::size_t least_count) {
  std::optional<Repeat> best;
  std::size_t left = comparisons_for(tokens);
  for (std::size_t length = 1; length <= std::min(longest, tokens.size() / 2); ++length) {
    const std::size_t places = tokens.size() - length;
    const auto again = [&](std::size_t at) { return tokens[at] == tokens[at + length]; };
    for (std::size_t at = length - 1; at < places; at += length) {
      if (!again(at)) continue;
      std::size_t begin = at, end = at + 1;
      while (begin > 0 && again(begin - 1)) --begin;
      while (end < places && again(end)) ++end;
      at = end;
      left -= std::min(left, end - begin);
      const Repeat found{begin, length, (end - begin) / length + 1};
      if (found.count < least_count) continue;
      if (!best || found.length * found.count > best->length * best->count) best = found;
    }
    left -= std::min(left, places / length);
    if (left == 0 || (best && best->length * best->count == tokens.size())) break;
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
