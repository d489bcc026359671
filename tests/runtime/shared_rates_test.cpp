#include "runtime/shared_rates.h"

#include "tests/catch.h"

using namespace stowage;
using std::chrono::milliseconds;

namespace {

Instant after(int ms) {
  return Instant{} + milliseconds(1000 + ms);
}

// To the device half of the rate is left, to the host three quarters; compute loses a fifth.
SharedRates shared() {
  Links links;
  links.duplex = 0.5;
  links.d2h.duplex = 0.75;
  links.compute_slowdown = 0.2;
  return SharedRates(links);
}

}  // namespace

TEST_CASE("a lane alone goes at full speed") {
  SharedRates rates = shared();
  rates.begin(Lane::h2d, after(0));
  REQUIRE(rates.reaches(Lane::h2d, milliseconds(10)) == after(10));
}

TEST_CASE("while both directions flow each has what duplex leaves") {
  SharedRates rates = shared();
  rates.begin(Lane::h2d, after(0));
  rates.begin(Lane::d2h, after(4));
  // 4 ms at full speed, then the other 6 at half: 4 + 12. Out: 9 at three quarters: 4 + 12.
  REQUIRE(rates.reaches(Lane::h2d, milliseconds(10)) == after(16));
  REQUIRE(rates.reaches(Lane::d2h, milliseconds(9)) == after(16));
  // Out ends at 8: of the 10 in, 4 + 2 are done, and 4 are left at full speed.
  rates.end(Lane::d2h, after(8));
  REQUIRE(rates.reaches(Lane::h2d, milliseconds(10)) == after(12));
}

TEST_CASE("compute is slowed while anything flows") {
  SharedRates rates = shared();
  rates.begin(Lane::compute, after(0));
  rates.begin(Lane::d2h, after(2));
  rates.begin(Lane::h2d, after(3));
  // 2 ms at full speed, 8 at four fifths: 2 + 10.
  REQUIRE(rates.reaches(Lane::compute, milliseconds(10)) == after(12));
  rates.end(Lane::d2h, after(5));
  rates.end(Lane::h2d, after(7));
  // 2, then 5 at four fifths: 6 are done at 7.
  REQUIRE(rates.reaches(Lane::compute, milliseconds(10)) == after(11));
}

TEST_CASE("what is told late has gone at full speed until the latest change") {
  SharedRates rates = shared();
  rates.begin(Lane::d2h, after(6));
  rates.begin(Lane::h2d, after(4));
  // 2 until 6, then 8 at half: 6 + 16.
  REQUIRE(rates.reaches(Lane::h2d, milliseconds(10)) == after(22));
}
