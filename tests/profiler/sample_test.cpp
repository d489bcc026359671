#include "profiler/sample.h"

#include <vector>

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

TEST_CASE("the middle repeat is the median, of an even count the mean of two") {
  REQUIRE(spread_of({{9}, {1}, {5}}).median.value == 5);
  REQUIRE(spread_of({{9}, {1}, {5}, {7}}).median.value == 6);  // (5 + 7) / 2
  REQUIRE_THROWS_AS(spread_of({}), DefectError);
}

TEST_CASE("the spread is half of the range of all but the outermost twentieths") {
  REQUIRE(spread_of({{9}, {1}, {5}}).half_range.value == 4);  // (9 - 1) / 2
  std::vector<Nanos> repeats;
  for (std::int64_t i = 0; i < 20; ++i) repeats.push_back({i * 10});
  repeats.back() = {1'000'000};
  REQUIRE(spread_of(repeats).half_range.value == 85);  // (180 - 10) / 2
}
