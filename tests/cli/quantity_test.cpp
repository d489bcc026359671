#include "cli/quantity.h"

#include "tests/catch.h"

using namespace stowage;

TEST_CASE("sizes are read with their unit") {
  const auto size = [](const char* text) { return parse_size("--vram", text).value; };
  REQUIRE(size("0") == 0);
  REQUIRE(size("25769803776") == 25769803776);
  REQUIRE(size("24GiB") == 25769803776);  // 24 * 1024^3
  REQUIRE(size("24GB") == 24000000000);
  REQUIRE(size("24 GB") == 24000000000);
  REQUIRE(size("1.5GiB") == 1610612736);  // 3 * 512 * 1024^2
  REQUIRE(size("0.3KiB") == 307);         // 307.2
  REQUIRE(size("9223372036854775807") == 9223372036854775807);
}

TEST_CASE("sizes and durations have three digits that matter") {
  REQUIRE(readable(Bytes{217}) == "217 B");
  REQUIRE(readable(Bytes{1536}) == "1.50 KiB");
  REQUIRE(readable(Bytes{25769803776}) == "24.0 GiB");
  REQUIRE(readable(Bytes{-2048}) == "-2.00 KiB");
  REQUIRE(readable(Nanos{999}) == "999 ns");
  REQUIRE(readable(Nanos{12'340'000}) == "12.3 ms");
  REQUIRE(readable(Nanos{90'000'000'000}) == "90.0 s");
}

TEST_CASE("shares") {
  REQUIRE(parse_share("--step-tolerance", "10%") == 0.1);
  REQUIRE(parse_share("--step-tolerance", "0.1") == 0.1);
  REQUIRE(percent(0.004) == "0.4 %");
  REQUIRE(percent(0.12) == "12 %");
  REQUIRE(change(0.12) == "+12 %");
  REQUIRE(change(-0.5) == "-50 %");
}
