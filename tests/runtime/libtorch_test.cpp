#include <ATen/ATen.h>

#include "tests/catch.h"

TEST_CASE("LibTorch links and adds") {
  // 1.5 + 2.25 = 3.75
  const at::Tensor sum = at::full({1}, 1.5) + at::full({1}, 2.25);
  REQUIRE(sum.item<double>() == 3.75);
}
