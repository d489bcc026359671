#include "profiler/link_probe.h"

#include "profiler/host_machine.h"
#include "runtime/host_device.h"
#include "tests/catch.h"

using namespace stowage;

namespace {

// 200 and 100 MB/s: slow enough that any computer keeps up. 64 KiB take 328 and 655 us, 4 MiB 21 and 42 ms.
Machine slow_links() {
  Machine machine = host_machine({1 << 28});
  machine.links.h2d = {{200'000'000}, {300'000}};
  machine.links.d2h = {{100'000'000}, {100'000}};
  return machine;
}

}  // namespace

TEST_CASE("probing a paced device gives the links of its machine file") {
  HostDevice device(slow_links());
  const LinkReport report = probe_links(device, {{{1 << 16}, {1 << 19}, {1 << 22}}, 5});
  const Links links = report.links();
  // A copy is never quicker than its link: 300 us + 65536 / 0.2 = 628 us, 100 us + 65536 / 0.1 = 755 us.
  REQUIRE(report.h2d.timings.front().time >= Nanos{627'680});
  REQUIRE(report.d2h.timings.front().time >= Nanos{755'360});
  // What a busy computer adds makes links slower, never faster; a fit may err by a little either way.
  REQUIRE(links.h2d.rate.bytes_per_second <= 204'000'000);
  REQUIRE(links.d2h.rate.bytes_per_second <= 102'000'000);
  REQUIRE(links.h2d.rate.bytes_per_second >= 150'000'000);
  REQUIRE(links.d2h.rate.bytes_per_second >= 75'000'000);
  REQUIRE(links.h2d.latency >= Nanos{270'000});
  REQUIRE(links.d2h.latency >= Nanos{70'000});
  REQUIRE(links.pageable == std::min(links.h2d.rate, links.d2h.rate));
  REQUIRE(links.duplex > 0.5);
}

TEST_CASE("what is within a twentieth of no loss counts as none") {
  LinkReport report{};
  report.duplex = 0.96;
  report.compute_slowdown = 0.04;
  REQUIRE(report.links().duplex == 1.0);
  REQUIRE(report.links().compute_slowdown == 0.0);
  report.duplex = 0.8;
  report.compute_slowdown = 0.25;
  REQUIRE(report.links().duplex == 0.8);
  REQUIRE(report.links().compute_slowdown == 0.25);
}
