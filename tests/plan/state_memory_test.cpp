// What states share, by hand.
#include "plan/state_memory.h"

#include "tests/catch.h"

using namespace stowage;

namespace {

std::vector<std::int64_t> own_of(const StateMemory& memory) {
  std::vector<std::int64_t> own;
  for (Bytes bytes : memory.own) own.push_back(bytes.value);
  return own;
}

struct Expected {
  std::uint32_t first, last;
  std::int64_t bytes;
};

void require_shared(const StateMemory& memory, const std::vector<Expected>& expected) {
  REQUIRE(memory.shared.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(memory.shared[i].first == expected[i].first);
    REQUIRE(memory.shared[i].last == expected[i].last);
    REQUIRE(memory.shared[i].bytes.value == expected[i].bytes);
  }
}

}  // namespace

TEST_CASE("where nothing is handed on, each state is its own") {
  const StateMemory memory = state_memory({{3}, {0}, {2}}, {{0}, {0}});
  REQUIRE(own_of(memory) == std::vector<std::int64_t>{3, 0, 2});
  REQUIRE(memory.shared.empty());
}

// A U of {x}, {x, s}, {x, s, t}, {x, s}, {x}: s of 4 B, t of 3; x of 8, 4, 2, 4 and 8.
TEST_CASE("skip connections are of the states that they pass") {
  const StateMemory memory = state_memory({{8}, {8}, {9}, {8}, {8}}, {{0}, {4}, {4}, {0}});
  REQUIRE(own_of(memory) == std::vector<std::int64_t>{8, 4, 5, 4, 8});
  require_shared(memory, {{1, 3, 4}});
  REQUIRE(memory.shared[0].holders() == 3);
  REQUIRE(memory.shared[0].is_of(2));
  REQUIRE_FALSE(memory.shared[0].is_of(4));
}

// Of 5 B that X_0 hands on, X_1 hands on 2; these X_2 hands on, with the one that it made itself.
TEST_CASE("what came last goes first") {
  const StateMemory memory = state_memory({{6}, {5}, {3}, {3}}, {{5}, {2}, {3}});
  REQUIRE(own_of(memory) == std::vector<std::int64_t>{1, 0, 0, 0});
  require_shared(memory, {{0, 1, 3}, {0, 3, 2}, {2, 3, 1}});
}

// Gradients come the other way: of X_3, 2 B are those of X_2, and one of them is of X_1.
TEST_CASE("gradients are handed on towards the beginning") {
  const StateMemory memory = state_memory_backwards({{0}, {4}, {3}, {5}}, {{0}, {1}, {2}});
  REQUIRE(own_of(memory) == std::vector<std::int64_t>{0, 3, 1, 3});
  require_shared(memory, {{3, 2, 1}, {3, 1, 1}});
  REQUIRE(memory.shared[1].holders() == 3);
}
