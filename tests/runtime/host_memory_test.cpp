// How much may be pinned here, and when nothing more should be.
#include <cstdlib>
#include <map>
#include <utility>

#include "runtime/host_pressure.h"
#include "runtime/memory_pool.h"
#include "runtime/pinned_limit.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;

namespace {

constexpr std::int64_t mebi = 1 << 20;

// A driver that pins no more than so much, and after it refused goes on refusing until its error is cleared,
// as CUDA's does.
struct CappedDriver {
  std::int64_t cap = 0;
  std::int64_t pinned = 0, most = 0;
  bool error = false;
  std::map<void*, std::int64_t> sizes = {};

  HostMemorySource source() {
    return {[this](std::size_t bytes) -> void* {
              const auto wanted = static_cast<std::int64_t>(bytes);
              error = error || pinned + wanted > cap;
              if (std::exchange(error, false)) return nullptr;
              pinned += wanted;
              most = std::max(most, pinned);
              void* const place = std::malloc(1);
              sizes[place] = wanted;
              return place;
            },
            [this](void* place) {
              pinned -= sizes.at(place);
              sizes.erase(place);
              std::free(place);
            }};
  }
};

}  // namespace

TEST_CASE("the limit of pinned memory is probed, not guessed") {
  // Steps of 256 MiB under a cap of 1,000 MiB: three succeed, 768 MiB; four fifths of that are 614.4 MiB.
  CappedDriver driver{1000 * mebi};
  REQUIRE(probe_pinned_limit(driver.source(), {25LL << 30}) == Bytes{614 * mebi});
  REQUIRE(driver.most == 768 * mebi);
  REQUIRE(driver.pinned == 0);
  REQUIRE(driver.sizes.empty());
  const HostMemorySource source = driver.source();
  void* const whole = source.take(1000 * mebi);  // the next request finds no error left
  REQUIRE(whole != nullptr);
  source.give_back(whole);
}

TEST_CASE("no more is probed than there is reason to") {
  // 600 MiB hold two steps; four fifths of 512 MiB are 409.6 MiB.
  CappedDriver driver{1000 * mebi};
  REQUIRE(probe_pinned_limit(driver.source(), {600 * mebi}) == Bytes{409 * mebi});
  REQUIRE(driver.most == 512 * mebi);
}

TEST_CASE("what is available is read from the system's own account") {
  const tests::Workplace folder;
  const std::string file = folder.path("meminfo");
  folder.write("meminfo",
               "MemTotal:       24605000 kB\nMemFree:          100000 kB\nMemAvailable:     2048 kB\n");
  REQUIRE(available_host_memory(file) == Bytes{2 * mebi});
  folder.write("meminfo", "MemTotal:       24605000 kB\n");
  REQUIRE(available_host_memory(file) == std::nullopt);
  REQUIRE(available_host_memory(folder.path("none")) == std::nullopt);
}

TEST_CASE("nothing is pinned that the host cannot spare, and the host is named for it") {
  CappedDriver driver{1000 * mebi};
  HostPressure pressure;
  pressure.spare = {100 * mebi};
  Bytes available{300 * mebi};
  pressure.available = [&] { return available; };
  PinnedPool pool(watched(driver.source(), pressure), {{1LL << 40}, {1LL << 40}},
                  watched(system_memory(), pressure));
  pool.begin_step({});
  const HostBuffer first = pool.pin({200 * mebi});  // 300 less 100 to spare
  available = {299 * mebi};
  try {
    pool.pin({200 * mebi});
    REQUIRE(false);
  } catch (const MemoryRefused& refused) {
    REQUIRE(refused.refusal().space == Space::host);
    REQUIRE(refused.refusal().text() ==
            "host memory: requested 209715200 B, live 209715200 B, budget 209715200 B");
  }
  REQUIRE_THROWS_AS(pool.check_out({200 * mebi}), MemoryRefused);  // pageable memory would be no better
  REQUIRE(pool.live() == Bytes{200 * mebi});
  REQUIRE(pool.report().held == Bytes{});
  REQUIRE(!pool.check_out({mebi / 2}).is_pageable());  // too small to be asked about
}
