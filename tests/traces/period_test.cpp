#include "traces/import/period.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include "tests/catch.h"

using namespace stowage;

namespace {

std::vector<std::uint64_t> tokens(const std::string& letters) {
  return {letters.begin(), letters.end()};
}

// The thorough way: at every place, for every length, how often what is there comes again.
std::optional<Repeat> widest(const std::vector<std::uint64_t>& all, std::size_t longest,
                             std::size_t least_count) {
  std::optional<Repeat> best;
  for (std::size_t length = 1; length <= std::min(longest, all.size() / 2); ++length) {
    for (std::size_t begin = 0; begin + 2 * length <= all.size(); ++begin) {
      std::size_t count = 1;
      for (std::size_t at = begin + length; at + length <= all.size(); at += length, ++count) {
        if (!std::equal(all.begin() + static_cast<long>(begin),
                        all.begin() + static_cast<long>(begin + length), all.begin() + static_cast<long>(at)))
          break;
      }
      if (count < least_count) continue;
      if (!best || length * count > best->length * best->count) best = Repeat{begin, length, count};
    }
  }
  return best;
}

std::vector<Repeat> thoroughly(const std::vector<std::uint64_t>& all, std::size_t longest) {
  const std::optional<Repeat> outer = widest(all, longest, 2);
  if (!outer) return {};
  const auto first = all.begin() + static_cast<long>(outer->begin);
  const std::optional<Repeat> inner = widest({first, first + static_cast<long>(outer->length)}, longest, 3);
  if (!inner || inner->length * inner->count * 10 < outer->length * 7) return {*outer};
  std::vector<Repeat> found;
  for (std::size_t i = 0; i < outer->count; ++i)
    found.push_back({outer->begin + i * outer->length + inner->begin, inner->length, inner->count});
  return found;
}

// Stretches that repeat, whole or in part, with others between them; of few letters, so that much repeats by
// chance.
std::vector<std::uint64_t> random_tokens(std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::size_t letters = 1 + below(5), wanted = below(70);
  std::vector<std::uint64_t> all;
  while (all.size() < wanted) {
    std::vector<std::uint64_t> stretch(1 + below(7));
    for (std::uint64_t& token : stretch) token = below(letters);
    for (std::size_t times = 1 + below(5); times > 0; --times)
      all.insert(all.end(), stretch.begin(), stretch.end());
    all.resize(all.size() - below(std::min<std::size_t>(all.size(), 3)));
  }
  return all;
}

}  // namespace

TEST_CASE("what repeats is found with its length and count") {
  REQUIRE(repeats_in(tokens("xxABCDABCDABCDy")) == std::vector<Repeat>{{2, 4, 3}});
  REQUIRE(repeats_in(tokens("ABCDEFG")).empty());
  REQUIRE(repeats_in({}).empty());
  REQUIRE(repeats_in(tokens("AAAA")) == std::vector<Repeat>{{0, 1, 4}});
  // 3 * 4 letters beat 4 * 2
  REQUIRE(repeats_in(tokens("PQPQPQPQ-abcdabcdabcd")) == std::vector<Repeat>{{9, 4, 3}});
}

TEST_CASE("passes over a model give way to the blocks inside them") {
  // each pass: e, four times LMN, h: 12 of 14 letters
  const std::string pass = "eLMNLMNLMNLMNh";
  const std::vector<Repeat> found = repeats_in(tokens("start" + pass + pass));
  REQUIRE(found == std::vector<Repeat>{{6, 3, 4}, {20, 3, 4}});
  // a repeat inside that fills little stays part of its block: AAA of 9
  REQUIRE(repeats_in(tokens("bcdefgAAAbcdefgAAA")) == std::vector<Repeat>{{0, 9, 2}});
}

TEST_CASE("a look at every length-th place finds what a look everywhere finds") {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<std::uint64_t> all = random_tokens(random);
    const std::size_t longest = 1 + random() % 40;
    INFO("round " << round << ", " << all.size() << " tokens, " << longest << " at most");
    REQUIRE(repeats_in(all, longest) == thoroughly(all, longest));
  }
}

TEST_CASE("a million equal tokens are one repeat, found in no time") {
  REQUIRE(repeats_in(std::vector<std::uint64_t>(1'000'000, 7)) == std::vector<Repeat>{{0, 1, 1'000'000}});
  // A token of its own before and after each half: no length covers all, and each has much to compare.
  std::vector<std::uint64_t> all(1'000'000, 7);
  all[0] = 1;
  all[500'000] = 2;
  all[999'999] = 3;
  REQUIRE(repeats_in(all) == std::vector<Repeat>{{1, 1, 499'999}});
}
