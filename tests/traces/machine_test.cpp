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

TEST_CASE("what a machine leaves out has a default") {
  const Machine machine = parse_machine(R"({"format": "stowage.machine", "version": 1,
    "device": {"memory_bytes": 10}, "host": {"memory_bytes": 20},
    "links": {"h2d": {"bytes_per_second": 8}, "d2h": {"bytes_per_second": 1}}})");
  Machine expected;
  expected.device = {{10}, {0}};
  expected.host = {{20}, {20}, PinnedRounding::exact};
  expected.links = {{{8}, {0}}, {{1}, {0}}, {2}, 1.0, 0.0};  // 8 / 3 = 2.67, rounded down
  expected.arena = ArenaKind::ideal;
  REQUIRE(machine == expected);
  // A third of 2 would be no rate at all.
  const std::string slow = R"({"format": "stowage.machine", "version": 1,
    "device": {"memory_bytes": 10}, "host": {"memory_bytes": 20},
    "links": {"h2d": {"bytes_per_second": 2}, "d2h": {"bytes_per_second": 1}}})";
  REQUIRE(parse_machine(slow).links.pageable == Rate{1});
}

TEST_CASE("every key of a machine is checked") {
  REQUIRE(refused("\"memory_bytes\": 25769803776, ", "") == "device.memory_bytes: the key is missing");
  REQUIRE(refused("\"memory_bytes\": 68719476736, ", "") == "host.memory_bytes: the key is missing");
  REQUIRE(refused("\"bytes_per_second\": 26000000000, ", "") ==
          "links.h2d.bytes_per_second: the key is missing");
  REQUIRE(refused("\"d2h\"", "\"d2d\"") == "links.d2d: unknown key");
  REQUIRE(refused("\"device\"", "\"devices\"") == "devices: unknown key");
  REQUIRE(refused("25769803776", "-1") == "device.memory_bytes: expected at least 0, not -1");
  REQUIRE(refused("34359738368", "1e9") ==
          "host.pinned_limit_bytes: expected an integer, without point or exponent, not 1e9");
  REQUIRE(refused("9000000000", "0") == "links.pageable_bytes_per_second: expected at least 1, not 0");
  REQUIRE(refused("\"latency_ns\": 10000", "\"latency_ns\": -1") ==
          "links.h2d.latency_ns: expected at least 0, not -1");
  REQUIRE(refused("\"duplex\": 1.0", "\"duplex\": -0.1") ==
          "links.duplex: expected a number from 0 to 1, not -0.1");
  REQUIRE(refused("\"duplex\": 1.0", "\"duplex\": \"1\"") == "links.duplex: expected a number, not \"1\"");
  REQUIRE(refused("\"compute_slowdown\": 0.0", "\"compute_slowdown\": 1.01") ==
          "links.compute_slowdown: expected a number from 0 to 1, not 1.01");
  REQUIRE(refused("\"ideal\"", "\"Ideal\"") == "arena: expected one of ideal, caching, not \"Ideal\"");
  REQUIRE(refused("\"version\": 1", "\"version\": 0") == "version: expected version 1, not 0");
  REQUIRE(refused("\"links\": {", "\"links\": {\"peer\": 1, ") == "links.peer: unknown key");
}

TEST_CASE("fractions read back as they were written") {
  Machine machine = parse_machine(example);
  for (const double duplex : {0.1, 1.0 / 3, 0.83, 5e-324, 1.0 - 0x1p-53, 1.0}) {
    machine.links.duplex = duplex;
    REQUIRE(parse_machine(to_json(machine)).links.duplex == duplex);
  }
}
