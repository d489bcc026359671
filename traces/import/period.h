// What repeats in a sequence: the operators of a model's equal blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stowage {

//   x x A B C A B C A B C x      begin 2, length 3, count 3
struct Repeat {
  std::size_t begin, length, count;

  std::size_t end() const { return begin + length * count; }
  bool operator==(const Repeat&) const = default;
};

// The stretch of equal repeats, next to each other, that covers the most tokens, twice at least; of those
// that cover the same the one with the shortest length, then the first. Where the repeats found so are passes
// over a model, one after another, that repeat something inside that fills seven tenths of them, three times
// or more, that is the answer, once for each pass. Cost: tokens times the logarithm of `longest` where
// little repeats; some hundred times the tokens at most, for which the longest repeats are not looked for
// where a hundred thousand tokens and more repeat at many lengths.
std::vector<Repeat> repeats_in(const std::vector<std::uint64_t>& tokens, std::size_t longest = 4096);

}  // namespace stowage
