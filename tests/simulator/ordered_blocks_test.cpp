// The arena's order of blocks against that of the library.
#include "simulator/ordered_blocks.h"

#include <random>
#include <set>

#include "tests/catch.h"

using namespace stowage;

namespace ordered_blocks_test {

std::vector<int> listed(const OrderedBlocks<int>& blocks) {
  std::vector<int> all;
  for (int each : blocks) all.push_back(each);
  return all;
}

// Grows to a thousand blocks and shrinks again, three times: chunks are cut, emptied and used again.
TEST_CASE("blocks stay in order through insertions and erasures") {
  OrderedBlocks<int> blocks;
  std::set<int> wanted;
  std::mt19937 dice(1);
  for (int step = 0; step < 12'000; ++step) {
    const int block = static_cast<int>(dice() % 3000);
    const bool growing = step / 2000 % 2 == 0;
    if (growing && wanted.insert(block).second) blocks.insert(block);
    const auto next = wanted.lower_bound(block);
    const auto found = blocks.lower_bound(block);
    REQUIRE((found == blocks.end()) == (next == wanted.end()));
    if (next == wanted.end()) continue;
    REQUIRE(*found == *next);
    REQUIRE(blocks.last() == *wanted.rbegin());
    if (growing) continue;
    blocks.erase(*next);
    wanted.erase(next);
    if (step % 100 == 0) REQUIRE(listed(blocks) == std::vector<int>(wanted.begin(), wanted.end()));
  }
  blocks.clear();
  REQUIRE(blocks.empty());
  REQUIRE(blocks.begin() == blocks.end());
}

}  // namespace ordered_blocks_test
