// The robust fit on a line, and effects on two rows by hand.
#include "forecast/effects.h"

#include <cmath>

#include "forecast/least_squares.h"
#include "tests/catch.h"
#include "tests/validation/small_family.h"

using namespace stowage;
using namespace stowage::tests;

namespace effects_test {
namespace {

constexpr EffectSizes sizes{.code = 0,
                            .family = 0.03,
                            .run = 0,
                            .precision = 0,
                            .checkpointing = 0,
                            .gpu = 0,
                            .row = 0,
                            .noise = 0.01};

Family named(const std::string& name) {
  Family family = small_family(Segmenting::contiguous);
  family.name = name;
  return family;
}

}  // namespace

// y = 2 + 3 x in eleven points, one of them wrong by 50.
TEST_CASE("a fit passes a wrong row by") {
  const auto residual = [](const std::vector<double>& at, std::size_t i) {
    const double x = static_cast<double>(i);
    return at[0] + at[1] * x - (2 + 3 * x + (i == 5 ? 50 : 0));
  };
  const std::vector<double> fitted =
      least_squares(std::vector<Prior>{{1.5, 0.01}, {2.5, 0.01}}, 11, residual, 0.01);
  REQUIRE(fitted[0] == Approx(2).margin(0.05));
  REQUIRE(fitted[1] == Approx(3).margin(0.05));
}

TEST_CASE("without rows a fit stays where it starts") {
  const auto fitted = least_squares(
      std::vector<Prior>{{1, 0.5}, {2, 0.5}}, 0, [](const std::vector<double>&, std::size_t) { return 0.0; },
      1);
  REQUIRE(fitted == std::vector<double>{1, 2});
}

// A family's effect of variance 0.03 under noise of 0.01: of one row's 0.4 three quarters are the family's;
// what is left of the next row's variance is 0.04 - 0.03 x 0.03 / 0.04.
TEST_CASE("a row tells of its family, and of no other") {
  const Family a = named("a"), b = named("b"), c = named("c");
  const Gpu gpu{"g", "g", Bytes{1}, 1, Rate{1}, 4, 16, Bytes{1}, Bytes{}, 1};
  const auto step = [&](const Family& family) { return situation(family, family.name, {}, gpu, false); };
  const Effects effects({step(a), step(b)}, {0.4, 0.0}, sizes);
  const Effect same = effects.of(step(a)), other = effects.of(step(c));
  REQUIRE(same.seen);
  REQUIRE(same.mean == Approx(0.3));
  REQUIRE(!other.seen);
  REQUIRE(other.mean == Approx(0).margin(1e-12));
  REQUIRE(same.high - same.mean == Approx(same.mean - same.low));
  // Each row is left out as a family of its own: 0.4 and 0 of a deviation of 0.2. The larger is 2.
  REQUIRE(other.high == Approx(2 * 0.2));
  // A size unlike the rows' makes the interval wider, and nothing else.
  const Effect larger = effects.of(step(a), 1);
  REQUIRE(larger.mean == same.mean);
  REQUIRE(larger.high > same.high);
}

}  // namespace effects_test
