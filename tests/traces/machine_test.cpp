#include "traces/machine.h"

#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace {

const std::string example = R"({"format": "stowage.machine", "version": 1, "name": "card",
 "device": {"memory_bytes": 25769803776, "reserved_bytes": 0},
 "host": {"memory_bytes": 68719476736, "pinned_limit_bytes": 34359738368, "pinned_rounding": "exact"},
 "links": {"h2d": {"bytes_per_second": 26000000000, "latency_ns": 10000},
           "d2h": {"bytes_per_second": 26000000000, "latency_ns": 10000},
           "pageable_bytes_per_second": 9000000000, "duplex": 1.0, "compute_slowdown": 0.0},
 "arena": "ideal"})";

std::string refused(const std::string& from, const std::string& to) {
  return refusal(parse_machine, changed(example, from, to));
}

}  // namespace

TEST_CASE("the machine of the design is read as printed, and survives its file") {
  Machine machine = parse_machine(example);
  REQUIRE(machine.device.usable() == Bytes{25769803776});
  REQUIRE(machine.links.h2d.latency == Nanos{10000});
  machine.host.pinned_rounding = PinnedRounding::slab;
  machine.links.duplex = 0.83;
  machine.links.compute_slowdown = 0.07;
  machine.arena = ArenaKind::caching;
  REQUIRE(parse_machine(to_json(machine)) == machine);
}

TEST_CASE("wrong machines are refused with the path of the key") {
  REQUIRE(refused("\"duplex\": 1.0", "\"duplex\": 1.5") ==
          "links.duplex: expected a number from 0 to 1, not 1.5");
  REQUIRE(refused("\"duplex\": 1.0", "\"duplex\": 0") == "links.duplex: expected more than 0");
  REQUIRE(refused("\"compute_slowdown\": 0.0", "\"compute_slowdown\": 1") ==
          "links.compute_slowdown: expected less than 1");
  REQUIRE(refused("26000000000", "0") == "links.h2d.bytes_per_second: expected at least 1, not 0");
  REQUIRE(refused("\"exact\"", "\"half\"") ==
          "host.pinned_rounding: expected one of exact, pow2, slab, not \"half\"");
  REQUIRE(refused("\"reserved_bytes\": 0", "\"reserved_bytes\": 25769803777") ==
          "device.reserved_bytes: expected at most 25769803776, not 25769803777");
  REQUIRE(refused("\"arena\"", "\"arenas\"") == "arenas: unknown key");
}

TEST_CASE("a copy takes bytes over rate, rounded up") {
  REQUIRE(Rate{1'000'000'000}.time_for({7}) == Nanos{7});
  REQUIRE(Rate{3'000'000'000}.time_for({7}) == Nanos{3});  // 7/3 = 2.33
  REQUIRE(Rate{3'000'000'000}.time_for({6}) == Nanos{2});
  REQUIRE(Rate{1}.time_for({0}) == Nanos{0});
  REQUIRE_THROWS_AS(Rate{1}.time_for({std::int64_t{1} << 40}), InputError);  // 34,865 years
}
