// The caching arena: by hand, against a plain one, and what holds for every journal.
#include "simulator/caching_arena.h"
#include "simulator/plain_arena.h"
#include "simulator/replay.h"
#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/simulator/random_journal.h"

using namespace stowage;
using namespace stowage::tests;

namespace arena_test {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
constexpr Bytes no_limit{INT64_MAX};

// An arena and a clock that stands still.
struct Bench {
  CachingArena arena;
  std::uint32_t next = 0;

  explicit Bench(Bytes budget = no_limit, const ArenaOptions& options = {}) : arena(budget, options) {}

  std::uint32_t take(std::int64_t bytes, std::uint32_t stream = 0) {
    REQUIRE(arena.allocate({next, stream, {bytes}}, {}));
    return next++;
  }
  bool refuses(std::int64_t bytes) { return !arena.allocate({next++, 0, {bytes}}, {}); }
  void drop(std::uint32_t buffer, std::uint32_t stream = 0) { arena.free(buffer, stream, {}); }
  void holds(std::int64_t live, std::int64_t allocated, std::int64_t reserved) const {
    REQUIRE(arena.levels() == ArenaLevels{{live}, {allocated}, {reserved}});
  }
};

TEST_CASE("small requests round to 512 B and are cut from segments of 2 MiB") {
  Bench bench;
  bench.take(1);
  bench.holds(1, 512, 2 * mib);
  bench.take(513);
  bench.holds(514, 512 + 1024, 2 * mib);
  bench.take(mib);  // the last that is small: 1536 B and 1 MiB of 2 MiB
  bench.holds(514 + mib, 1536 + mib, 2 * mib);
  bench.take(mib);  // 1 MiB less 1536 B is left, too little
  bench.holds(514 + 2 * mib, 1536 + 2 * mib, 4 * mib);
  bench.take(0);
  bench.holds(514 + 2 * mib, 1536 + 2 * mib, 4 * mib);
}

TEST_CASE("large requests below 10 MiB share segments of 20 MiB, others round to 2 MiB") {
  Bench bench;
  bench.take(mib + 1);  // 1 MiB + 512 B
  bench.holds(mib + 1, mib + 512, 20 * mib);
  bench.take(10 * mib - 512);
  bench.holds(11 * mib - 511, 11 * mib, 20 * mib);
  bench.take(10 * mib);  // 9 MiB are left
  bench.holds(21 * mib - 511, 21 * mib, 30 * mib);
  bench.take(11 * mib);  // from 12 MiB: 1 MiB left over is not cut off
  bench.holds(32 * mib - 511, 33 * mib, 42 * mib);
}

// 5 + 5 + 9 in 20 MiB; 1 MiB more is not cut off the last. The first two are freed and make one block of 10.
TEST_CASE("free neighbours become one block") {
  Bench bench;
  const auto a = bench.take(5 * mib), b = bench.take(5 * mib);
  bench.take(9 * mib);
  bench.drop(a);
  bench.drop(b);
  bench.take(10 * mib);
  bench.holds(19 * mib, 20 * mib, 20 * mib);
}

// Free blocks of 9, 4 and 6 MiB, kept apart by blocks in use: 5 MiB go where 6 are, and then 4 where 4 are.
TEST_CASE("the best fit is taken") {
  Bench bench;
  const auto nine = bench.take(9 * mib);
  bench.take(2 * mib);
  const auto four = bench.take(4 * mib);
  bench.take(2 * mib);  // 3 of 20 are left
  const auto six = bench.take(6 * mib);
  bench.take(9 * mib);  // 5 of 20 are left
  bench.take(5 * mib);
  bench.take(3 * mib);
  bench.holds(40 * mib, 40 * mib, 40 * mib);
  bench.drop(nine);
  bench.drop(four);
  bench.drop(six);
  bench.take(5 * mib);  // 1 MiB is left of the 6, and stays with it
  bench.holds(26 * mib, 27 * mib, 40 * mib);
  bench.take(4 * mib);
  bench.take(9 * mib);
  bench.holds(39 * mib, 40 * mib, 40 * mib);
}

TEST_CASE("a stream has no use for what another has cached") {
  Bench bench;
  bench.drop(bench.take(30 * mib, 0));
  bench.take(30 * mib, 1);
  bench.holds(30 * mib, 30 * mib, 60 * mib);
  bench.take(30 * mib, 0);
  bench.holds(60 * mib, 60 * mib, 60 * mib);
}

// 30 MiB are cached; another 12 need room in 40, so that the 30 are given back first.
TEST_CASE("cached segments are given back before a request is refused") {
  Bench bench({40 * mib});
  bench.drop(bench.take(30 * mib));
  bench.take(12 * mib, 1);
  bench.holds(12 * mib, 12 * mib, 12 * mib);
  REQUIRE(bench.arena.retries() == 1);
  REQUIRE(bench.refuses(30 * mib));
  bench.take(28 * mib);
  bench.holds(40 * mib, 40 * mib, 40 * mib);
}

// A segment with something in it stays, and what is free in it, 9 MiB on both sides, is of no use for 12.
TEST_CASE("a segment in part use is not given back") {
  Bench bench({20 * mib});
  const auto rest = bench.take(9 * mib);
  bench.take(2 * mib);
  bench.drop(rest);
  REQUIRE(bench.refuses(12 * mib));
  REQUIRE(bench.arena.largest_free() == Bytes{9 * mib});
  bench.holds(2 * mib, 2 * mib, 20 * mib);
}

TEST_CASE("expandable segments grow by pages and leave no slivers") {
  Bench bench(no_limit, {true, {}});
  const auto first = bench.take(12 * mib);
  bench.holds(12 * mib, 12 * mib, 20 * mib);
  bench.take(30 * mib);  // 8 are there, 22 are missing: two pages
  bench.holds(42 * mib, 42 * mib, 60 * mib);
  bench.drop(first);
  bench.take(13 * mib);  // too much for the 12 MiB; 18 are free at the end
  bench.holds(43 * mib, 43 * mib, 60 * mib);
  bench.take(kib);
  bench.holds(43 * mib + kib, 43 * mib + kib, 62 * mib);
}

// Pages 0, 1 and 2 hold 60 MiB; the middle buffer goes, and page 1 returns to the device for another stream.
TEST_CASE("whole free pages are unmapped before a request is refused") {
  Bench bench({60 * mib}, {true, {}});
  bench.take(18 * mib);
  const auto middle = bench.take(24 * mib);
  bench.take(18 * mib);
  bench.drop(middle);
  bench.holds(36 * mib, 36 * mib, 60 * mib);
  bench.take(20 * mib, 1);
  bench.holds(56 * mib, 56 * mib, 60 * mib);
  REQUIRE(bench.refuses(5 * mib));  // 2 + 2 MiB are left around page 1
}

TEST_CASE("the caching arena agrees with the plain one") {
  int retried = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < cases(1500); ++seed) {
    CAPTURE(seed);
    const Journal journal = random_journal(seed);
    const ArenaOptions options{seed % 2 == 1, {seed % 3 == 0 ? 5 : 0}};
    const std::int64_t budgets[] = {INT64_MAX, 100 * mib, 300 * mib, 700 * mib};
    const Bytes budget{budgets[seed / 2 % 4]};
    CachingArena caching(budget, options);
    PlainArena plain(budget, options);
    std::vector<bool> alive(journal.entries.size());
    for (const JournalEntry& entry : journal.entries) {
      if (!entry.allocates) {
        if (!alive[entry.buffer]) continue;
        caching.free(entry.buffer, entry.stream, entry.at);
        plain.free(entry.buffer, entry.stream, entry.at);
        alive[entry.buffer] = false;
      } else {
        const ArenaRequest request{entry.buffer, entry.stream, entry.bytes};
        alive[entry.buffer] = caching.allocate(request, entry.at);
        REQUIRE(plain.allocate(request, entry.at) == alive[entry.buffer]);
        refused += !alive[entry.buffer];
      }
      REQUIRE(caching.levels() == plain.levels());
      REQUIRE(caching.levels().live <= caching.levels().allocated);
      REQUIRE(caching.levels().allocated <= caching.levels().reserved);
      REQUIRE(caching.levels().reserved <= budget);
    }
    REQUIRE(caching.retries() == plain.retries());
    retried += caching.retries() > 0;
  }
  // The journals are of use.
  REQUIRE(retried > 500);
  REQUIRE(refused > 500);
}

TEST_CASE("an ideal arena holds what is live, and a journal gives the same curves again") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Journal journal = random_journal(seed);
    const Journal read = parse_journal(to_json(journal));
    REQUIRE(read == journal);
    IdealArena ideal(no_limit);
    ArenaCurves wanted, first, again;
    REQUIRE(!replay(journal.entries, ideal, &wanted).refused);
    REQUIRE(wanted.live == wanted.reserved);
    CachingArena caching(no_limit, {});
    replay(journal.entries, caching, &first);
    caching.reset(no_limit);
    replay(read.entries, caching, &again);
    REQUIRE(first == again);
    REQUIRE(first.live == wanted.live);
  }
}

}  // namespace arena_test
