#include "traces/machine.h"

#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace {

const std::string example_machine = R"({"format": "stowage.machine", "version": 1, "name": "card",
 "device": {"memory_bytes": 25769803776, "reserved_bytes": 0},
 "host": {"memory_bytes": 68719476736, "pinned_limit_bytes": 34359738368, "pinned_rounding": "exact"},
 "links": {"h2d": {"bytes_per_second": 26000000000, "latency_ns": 10000},
           "d2h": {"bytes_per_second": 26000000000, "latency_ns": 10000},
           "pageable_bytes_per_second": 9000000000, "duplex": 1.0, "compute_slowdown": 0.0},
 "arena": "ideal"})";

std::string machine_refused(const std::string& from, const std::string& to) {
  return refusal(parse_machine, changed(example_machine, from, to));
}

}  // namespace

TEST_CASE("the machine of the design is read as printed, and survives its file") {
  Machine machine = parse_machine(example_machine);
  REQUIRE(machine.device.usable() == Bytes{25769803776});
  REQUIRE(machine.links.h2d.latency == Nanos{10000});
  machine.host.pinned_rounding = PinnedRounding::slab;
  machine.links.duplex = 0.83;
  machine.links.compute_slowdown = 0.07;
  machine.links.h2d.curve = {{{65536}, {9'000'000'000}}, {{1 << 20}, {20'000'000'000}}};
  machine.links.h2d.duplex = 0.5;
  machine.host.pinning = {{3'000'000}, Rate{16'949'152'542}};
  machine.arena = ArenaKind::caching;
  machine.arena_options = {true, {5000}};
  machine.disk = Disk{{4'000'000'000'000}, {{7'000'000'000}, {80'000}}, {{5'000'000'000}, {20'000}}};
  REQUIRE(parse_machine(to_json(machine)) == machine);
}

TEST_CASE("wrong machines are refused with the path of the key") {
  REQUIRE(machine_refused("\"duplex\": 1.0", "\"duplex\": 1.5") ==
          "links.duplex: expected a number from 0 to 1, not 1.5");
  REQUIRE(machine_refused("\"duplex\": 1.0", "\"duplex\": 0") == "links.duplex: expected more than 0");
  REQUIRE(machine_refused("\"compute_slowdown\": 0.0", "\"compute_slowdown\": 1") ==
          "links.compute_slowdown: expected less than 1");
  REQUIRE(machine_refused("26000000000", "0") == "links.h2d.bytes_per_second: expected at least 1, not 0");
  REQUIRE(machine_refused("\"exact\"", "\"half\"") ==
          "host.pinned_rounding: expected one of exact, pow2, slab, not \"half\"");
  REQUIRE(machine_refused("\"reserved_bytes\": 0", "\"reserved_bytes\": 25769803777") ==
          "device.reserved_bytes: expected at most 25769803776, not 25769803777");
  REQUIRE(machine_refused("\"arena\"", "\"arenas\"") == "arenas: unknown key");
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
  REQUIRE(machine_refused("\"memory_bytes\": 25769803776, ", "") ==
          "device.memory_bytes: the key is missing");
  REQUIRE(machine_refused("\"memory_bytes\": 68719476736, ", "") == "host.memory_bytes: the key is missing");
  REQUIRE(machine_refused("\"bytes_per_second\": 26000000000, ", "") ==
          "links.h2d.bytes_per_second: the key is missing");
  REQUIRE(machine_refused("\"d2h\"", "\"d2d\"") == "links.d2d: unknown key");
  REQUIRE(machine_refused("\"device\"", "\"devices\"") == "devices: unknown key");
  REQUIRE(machine_refused("25769803776", "-1") == "device.memory_bytes: expected at least 0, not -1");
  REQUIRE(machine_refused("34359738368", "1e9") ==
          "host.pinned_limit_bytes: expected an integer, without point or exponent, not 1e9");
  REQUIRE(machine_refused("9000000000", "0") ==
          "links.pageable_bytes_per_second: expected at least 1, not 0");
  REQUIRE(machine_refused("\"latency_ns\": 10000", "\"latency_ns\": -1") ==
          "links.h2d.latency_ns: expected at least 0, not -1");
  REQUIRE(machine_refused("\"duplex\": 1.0", "\"duplex\": -0.1") ==
          "links.duplex: expected a number from 0 to 1, not -0.1");
  REQUIRE(machine_refused("\"duplex\": 1.0", "\"duplex\": \"1\"") ==
          "links.duplex: expected a number, not \"1\"");
  REQUIRE(machine_refused("\"compute_slowdown\": 0.0", "\"compute_slowdown\": 1.01") ==
          "links.compute_slowdown: expected a number from 0 to 1, not 1.01");
  REQUIRE(machine_refused("\"ideal\"", "\"Ideal\"") ==
          "arena: expected one of ideal, caching, not \"Ideal\"");
  REQUIRE(machine_refused("\"version\": 1", "\"version\": 0") == "version: expected version 1, not 0");
  REQUIRE(machine_refused("\"links\": {", "\"links\": {\"peer\": 1, ") == "links.peer: unknown key");
}

// 3 ms a buffer, and 59 ms a gigabyte.
TEST_CASE("whether pinned memory counts on the device") {
  const auto with = [](const std::string& more) {
    return changed(example_machine, "\"pinned_rounding\": \"exact\"",
                   "\"pinned_rounding\": \"exact\", " + more);
  };
  REQUIRE(parse_machine(example_machine).host.device_margin == std::nullopt);
  REQUIRE(parse_machine(with("\"pinned_counts_on_device\": false")).host.device_margin == std::nullopt);
  const Machine usual = parse_machine(with("\"pinned_counts_on_device\": true"));
  REQUIRE(usual.host.device_margin == Bytes{64 << 20});
  const Machine none =
      parse_machine(with(R"("pinned_counts_on_device": true, "pinned_device_margin_bytes": 0)"));
  REQUIRE(none.host.device_margin == Bytes{0});
  for (const Machine& machine : {usual, none}) REQUIRE(parse_machine(to_json(machine)) == machine);
  REQUIRE(refusal(parse_machine, with("\"pinned_counts_on_device\": 1")) ==
          "host.pinned_counts_on_device: expected true or false, not 1");
  REQUIRE(refusal(parse_machine, with("\"pinned_device_margin_bytes\": 5")) ==
          "host.pinned_device_margin_bytes: expected pinned_counts_on_device beside it");
}

TEST_CASE("what pinning costs") {
  const auto with = [](const std::string& more) {
    return changed(example_machine, "\"pinned_rounding\": \"exact\"",
                   "\"pinned_rounding\": \"exact\", " + more);
  };
  REQUIRE(parse_machine(example_machine).host.pinning.time_for({1'000'000'000}) == Nanos{0});
  const Machine machine = parse_machine(with(R"("pin_ns": 3000000, "pin_bytes_per_second": 16949152543)"));
  REQUIRE(machine.host.pinning.time_for({1'000'000'000}) == Nanos{3'000'000 + 59'000'000});
  REQUIRE(refusal(parse_machine, with("\"pin_ns\": -1")) == "host.pin_ns: expected at least 0, not -1");
  REQUIRE(refusal(parse_machine, with("\"pin_bytes_per_second\": 0")) ==
          "host.pin_bytes_per_second: expected at least 1, not 0");
}

TEST_CASE("a curve and a duplex of one direction are checked") {
  const auto refused_link = [](const std::string& more) {
    return machine_refused("\"latency_ns\": 10000", "\"latency_ns\": 10000, " + more);
  };
  REQUIRE(refused_link(
              R"("curve": [{"bytes": 1, "bytes_per_second": 1}, {"bytes": 1, "bytes_per_second": 1}])") ==
          "links.h2d.curve[1].bytes: expected at least 2, not 1");
  REQUIRE(refused_link(R"("curve": [{"bytes": 0, "bytes_per_second": 1}])") ==
          "links.h2d.curve[0].bytes: expected at least 1, not 0");
  REQUIRE(refused_link(R"("curve": [{"bytes": 5, "bytes_per_second": 0}])") ==
          "links.h2d.curve[0].bytes_per_second: expected at least 1, not 0");
  REQUIRE(refused_link(R"("curve": [{"bytes": 5, "rate": 7}])") == "links.h2d.curve[0].rate: unknown key");
  // 100 B at 10 B/s take 10 s, 200 B at 40 B/s only 5 s.
  REQUIRE(
      refused_link(R"("curve": [{"bytes": 100, "bytes_per_second": 10},
                                    {"bytes": 200, "bytes_per_second": 40}])") ==
      "links.h2d.curve[1].bytes_per_second: expected a larger copy to take no less time than a smaller one");
  REQUIRE(refused_link("\"duplex\": 0") == "links.h2d.duplex: expected more than 0");
}

// 64 B at half a byte a nanosecond take 128 ns, 256 B at one byte 256 ns.
TEST_CASE("a copy's time follows the curve") {
  Link link{{4'000'000'000}, {}};
  REQUIRE(link.time_for({100}) == Nanos{25});
  link.curve = {{{64}, {500'000'000}}, {{256}, {1'000'000'000}}};
  REQUIRE(link.time_for({0}) == Nanos{0});
  REQUIRE(link.time_for({32}) == Nanos{64});  // on the way to the first point: 32 / 0.5
  REQUIRE(link.time_for({64}) == Nanos{128});
  REQUIRE(link.time_for({65}) == Nanos{129});   // 128 + 128 * 1 / 192 = 128.67
  REQUIRE(link.time_for({160}) == Nanos{192});  // half way
  REQUIRE(link.time_for({256}) == Nanos{256});
  REQUIRE(link.time_for({356}) == Nanos{281});  // 256 + 100 / 4
  Nanos before;
  for (std::int64_t bytes = 0; bytes < 400; ++bytes) {
    REQUIRE(link.time_for({bytes}) >= before);
    before = link.time_for({bytes});
  }
}

TEST_CASE("options of the arena") {
  const auto options = [](const std::string& text) {
    return changed(example_machine, "\"ideal\"", "\"caching\", \"arena_options\": " + text);
  };
  REQUIRE(parse_machine(options("{}")).arena_options == ArenaOptions{});
  REQUIRE(parse_machine(options("{\"expandable_segments\": true}")).arena_options == ArenaOptions{true, {0}});
  REQUIRE(parse_machine(options("{\"record_stream_lag_ns\": 7}")).arena_options == ArenaOptions{false, {7}});
  REQUIRE(refusal(parse_machine, options("{\"expandable_segments\": 1}")) ==
          "arena_options.expandable_segments: expected true or false, not 1");
  REQUIRE(refusal(parse_machine, options("{\"record_stream_lag_ns\": -1}")) ==
          "arena_options.record_stream_lag_ns: expected at least 0, not -1");
  REQUIRE(refusal(parse_machine, options("{\"split\": 1}")) == "arena_options.split: unknown key");
}

TEST_CASE("fractions read back as they were written") {
  Machine machine = parse_machine(example_machine);
  for (const double duplex : {0.1, 1.0 / 3, 0.83, 5e-324, 1.0 - 0x1p-53, 1.0}) {
    machine.links.duplex = duplex;
    REQUIRE(parse_machine(to_json(machine)).links.duplex == duplex);
  }
}
