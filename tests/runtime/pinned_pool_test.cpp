// Real buffers under the shared rule.
#include "runtime/pinned_pool.h"

#include <cstdlib>
#include <set>

#include "runtime/memory_pool.h"
#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// Counts what the system has given; gives no more than `most` buffers at a time.
struct System {
  std::set<void*> given;
  std::size_t most = 100;

  HostMemorySource source() {
    return {[this](std::size_t bytes) -> void* {
              if (given.size() == most) return nullptr;
              return *given.insert(std::aligned_alloc(64, (bytes + 63) / 64 * 64)).first;
            },
            [this](void* data) {
              given.erase(data);
              std::free(data);
            }};
  }
};

HostMemory host(PinnedRounding rounding) {
  return {{1 << 20}, {1 << 20}, rounding};
}

}  // namespace

TEST_CASE("a buffer that came back serves the next request of its class") {
  System system;
  PinnedPool pool(system.source(), host(PinnedRounding::pow2));
  pool.begin_step({});
  const std::byte* first = nullptr;
  {
    const HostBuffer buffer = pool.check_out({100});
    REQUIRE(buffer.is_new());
    REQUIRE(pool.live() == Bytes{100});
    first = buffer.data();
  }
  const HostBuffer again = pool.check_out({120});  // 128 like the first
  REQUIRE(again.data() == first);
  REQUIRE(!again.is_new());
  REQUIRE(pool.report().held == Bytes{128});
  REQUIRE(pool.report().totals.served == PinnedServed{2, 2, 1, 1});
}

TEST_CASE("what finds no bucket is pageable, and goes back to the system at once") {
  System system;
  PinnedPool pool(system.source(), host(PinnedRounding::exact));
  pool.begin_step({1, {}});
  const HostBuffer pinned = pool.check_out({64}), pageable = pool.check_out({128});
  REQUIRE(!pinned.is_pageable());
  REQUIRE(pageable.is_pageable());
  REQUIRE(pool.live() == Bytes{192});
  REQUIRE(pool.report().held == Bytes{64});
  REQUIRE(pool.report().totals.missed == PinnedMissed{0, 1, 0, 0});
}

TEST_CASE("memory of an evicted bucket stays with the process until a flush") {
  System system;
  PinnedPool pool(system.source(), host(PinnedRounding::exact));
  pool.begin_step({1, {}});
  pool.check_out({64});
  pool.check_out({128});  // misses
  pool.check_out({128});  // asked for twice against once: the other goes
  REQUIRE(system.given.size() == 2);
  REQUIRE(pool.report().held == Bytes{192});
  pool.flush();
  REQUIRE(system.given.size() == 1);
  REQUIRE(pool.report().held == Bytes{128});
}

TEST_CASE("where the system pins no more, copies become pageable") {
  System system;
  system.most = 1;
  PinnedPool pool(system.source(), host(PinnedRounding::exact));
  pool.begin_step({});
  const HostBuffer first = pool.check_out({64}), second = pool.check_out({64});
  REQUIRE(second.is_pageable());
  REQUIRE(pool.report().totals.missed.failures == 1);
  REQUIRE_THROWS_AS(pool.pin({64}), MemoryRefused);
}

TEST_CASE("memory pinned for good counts against the caps") {
  System system;
  PinnedPool pool(system.source(), host(PinnedRounding::exact));
  const HostBuffer weights = pool.pin({100});
  pool.begin_step({{}, Bytes{150}});
  REQUIRE(pool.check_out({64}).is_pageable());
  REQUIRE(!pool.check_out({50}).is_pageable());
  REQUIRE_THROWS_AS(pool.begin_step({{}, Bytes{99}}), MemoryRefused);
}

TEST_CASE("a pool that starts anew has no buffers and no history") {
  System system;
  PinnedPool pool(system.source(), host(PinnedRounding::exact));
  pool.begin_step({});
  {
    const HostBuffer buffer = pool.check_out({64});
    REQUIRE_THROWS_AS(pool.start_anew(), DefectError);
  }
  pool.start_anew();
  REQUIRE(system.given.empty());
  REQUIRE(pool.report().buckets.empty());
}
