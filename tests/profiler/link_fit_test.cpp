#include "profiler/link_fit.h"

#include <vector>

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

TEST_CASE("copies that follow a link exactly give the link") {
  // 2 bytes a nanosecond after 100 ns: 100 + 200 / 2 = 200, 100 + 2000 / 2 = 1100, 100 + 20000 / 2 = 10100
  const std::vector<CopyTiming> timings{{{200}, {200}}, {{2000}, {1100}}, {{20000}, {10100}}};
  const LinkFit fit = fit_link(timings);
  REQUIRE(fit.link.rate.bytes_per_second == 2'000'000'000);
  REQUIRE(fit.link.latency.value == 100);
  REQUIRE(fit.error < 1e-9);
}

TEST_CASE("a fit that would need a negative latency has none") {
  // 1 byte a nanosecond, but the large copy took 5 ns more than that: the line through both begins below 0.
  const std::vector<CopyTiming> timings{{{10}, {10}}, {{100}, {105}}};
  const LinkFit fit = fit_link(timings);
  REQUIRE(fit.link.latency.value == 0);
  // relative sizes 1 and 100/105: (1 + 0.95238) / (1 + 0.90703) = 1.02378 ns a byte
  REQUIRE(fit.link.rate.bytes_per_second == Approx(1e9 / 1.02378).epsilon(1e-4));
  // residuals 0.02378 and 0.95238 * 1.02378 - 1 = -0.02497; mean square 0.000594
  REQUIRE(fit.error == Approx(0.02438).epsilon(1e-2));
}

TEST_CASE("one size cannot tell latency from rate") {
  REQUIRE_THROWS_AS(fit_link(std::vector<CopyTiming>{{{10}, {10}}, {{10}, {11}}}), DefectError);
  REQUIRE_THROWS_AS(fit_link({}), DefectError);
}
