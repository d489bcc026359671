#include "traces/units.h"

#include <cstdint>
#include <limits>
#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

TEST_CASE("a copy takes bytes over rate, rounded up") {
  REQUIRE(Rate{1'000'000'000}.time_for({7}) == Nanos{7});
  REQUIRE(Rate{3'000'000'000}.time_for({7}) == Nanos{3});  // 7/3 = 2.33
  REQUIRE(Rate{3'000'000'000}.time_for({6}) == Nanos{2});
  REQUIRE(Rate{1}.time_for({1}) == Nanos{1'000'000'000});
  REQUIRE(Rate{1}.time_for({0}) == Nanos{0});
}

TEST_CASE("no copy that fits overflows on the way") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  REQUIRE(Rate{1'000'000'000}.time_for({most}) == Nanos{most});
  REQUIRE(Rate{most}.time_for({most}) == Nanos{1'000'000'000});
  REQUIRE(Rate{most}.time_for({1}) == Nanos{1});  // 1e9 / 2^63, rounded up
  REQUIRE(Rate{1}.time_for({9223372036}) ==
          Nanos{9223372036'000'000'000});  // the longest: 2^63 is 9223372036854775808
  REQUIRE(refusal([](const std::string&) { Rate{1}.time_for({9223372037}); }, "") ==
          "bytes_per_second: 1 is too slow for 9223372037 bytes");
}

TEST_CASE("quantities add up and compare") {
  REQUIRE(Bytes{3} + Bytes{4} == Bytes{7});
  REQUIRE(Bytes{3} - Bytes{4} == -Bytes{1});
  REQUIRE(Nanos{3} * 4 == Nanos{12});
  REQUIRE(Nanos{3} < Nanos{4});
}
