// Which requests get pinned memory. One letter is one size: A 100 B, B 70 B, C 40 B.
#include "plan/pinned_buckets.h"

#include "tests/catch.h"

using namespace stowage;

namespace {

constexpr Bytes A{100}, B{70}, C{40};
constexpr std::int64_t gibibyte = 1 << 30;

PinnedBuckets pool_of(const PinnedLimits& limits, PinnedRounding rounding = PinnedRounding::exact) {
  PinnedBuckets pool(rounding);
  pool.set_limits(limits);
  return pool;
}

// p: pinned anew, i: an idle one, c: a cached one, n: none.
std::string sources(PinnedBuckets& pool, std::initializer_list<Bytes> requests) {
  std::string text;
  for (const Bytes request : requests) text += "icpn"[static_cast<int>(pool.check_out(request))];
  return text;
}

void give_back(PinnedBuckets& pool, std::initializer_list<Bytes> buffers) {
  for (const Bytes buffer : buffers) pool.give_back(buffer);
}

PinnedBucket bucket_of(const PinnedBuckets& pool, Bytes size) {
  for (const PinnedBucket& bucket : pool.report().buckets)
    if (bucket.size == size) return bucket;
  return {};
}

}  // namespace

TEST_CASE("without limits every request is pinned once and used again") {
  PinnedBuckets pool = pool_of({});
  REQUIRE(sources(pool, {A, B, A}) == "ppp");
  give_back(pool, {A, B, A});
  REQUIRE(sources(pool, {A, B, A, A}) == "iiip");
  const PinnedReport report = pool.report();
  REQUIRE(report.totals.served == PinnedServed{7, 7, 3, 4});
  REQUIRE(report.held == Bytes{370});  // 3 * 100 + 70
  REQUIRE(report.resident_buckets == 2);
  REQUIRE(report.checkout_rate() == 1.0);
  REQUIRE(report.reuse_rate() == 3.0 / 7);
}

// One bucket. A is in. The first B scores (1 access, 0 of them pinned) against A's (1, 1 of 1): not more. The
// second has two accesses against one.
TEST_CASE("a second request of a newcomer evicts what was asked for once") {
  PinnedBuckets pool = pool_of({1, {}, {}});
  REQUIRE(sources(pool, {A, B, B}) == "pnp");
  REQUIRE(!bucket_of(pool, A).resident);
  REQUIRE(bucket_of(pool, A).counts.turnover == PinnedTurnover{1, 1, 0, 0});
  REQUIRE(bucket_of(pool, B).counts.missed == PinnedMissed{0, 1, 0, 0});
  REQUIRE(bucket_of(pool, B).resident);
}

TEST_CASE("a buffer whose bucket is gone is dropped when it returns") {
  PinnedBuckets pool = pool_of({1, {}, {}});
  sources(pool, {A, B, B});
  give_back(pool, {A, B});
  REQUIRE(bucket_of(pool, A).idle == 0);
  REQUIRE(bucket_of(pool, A).counts.turnover.dropped_releases == 1);
  REQUIRE(bucket_of(pool, B).idle == 1);
  REQUIRE(pool.report().pool == B);    // what the pool keeps
  REQUIRE(pool.held() == Bytes{170});  // what the process does: dropped memory is still pinned
}

// B's third access beats A's two. A's third makes them equal, but 2 of A's 3 were pinned before, and only 1
// of B's.
TEST_CASE("statistics outlive their bucket") {
  PinnedBuckets pool = pool_of({1, {}, {}});
  REQUIRE(sources(pool, {A, A, B, B, B}) == "ppnnp");
  give_back(pool, {A, A});
  REQUIRE(sources(pool, {A}) == "c");  // where its buffers went when they came back
  REQUIRE(bucket_of(pool, A).counts.served == PinnedServed{3, 3, 0, 2});
  REQUIRE(!bucket_of(pool, B).resident);
}

// The same accesses and the same share of pinned ones: the later access counts.
TEST_CASE("the last access breaks ties of the score") {
  PinnedBuckets pool = pool_of({2, {}, {}});
  REQUIRE(sources(pool, {A, B}) == "pp");
  REQUIRE(sources(pool, {C, C}) == "np");  // evicts A, which was asked for before B
  REQUIRE(!bucket_of(pool, A).resident);
  REQUIRE(bucket_of(pool, B).resident);
}

TEST_CASE("a bucket with pending buffers stays") {
  PinnedBuckets pool = pool_of({1, {}, {}});
  sources(pool, {A});
  pool.mark_pending(A);
  REQUIRE(sources(pool, {B, B, B}) == "nnn");
  pool.give_back(A);
  REQUIRE(sources(pool, {B}) == "p");
}

TEST_CASE("no buckets at all") {
  PinnedBuckets pool = pool_of({0, {}, {}});
  REQUIRE(sources(pool, {A, A}) == "nn");
  REQUIRE(pool.report().totals.missed == PinnedMissed{2, 0, 0, 0});
}

TEST_CASE("counts start anew while buffers stay") {
  PinnedBuckets pool = pool_of({});
  sources(pool, {A});
  give_back(pool, {A});
  pool.reset_counts();
  REQUIRE(pool.report().totals == PinnedCounts{});
  REQUIRE(sources(pool, {A}) == "i");
}

TEST_CASE("a lower cap evicts what was asked for least recently") {
  PinnedBuckets pool = pool_of({3, {}, {}});
  sources(pool, {A, A, B, C});
  give_back(pool, {A, A, B, C});
  pool.set_limits({1, {}, {}});
  REQUIRE(!bucket_of(pool, A).resident);  // although it was asked for most often
  REQUIRE(!bucket_of(pool, B).resident);
  REQUIRE(bucket_of(pool, C).resident);
}

// 200 B for the pool, 30 of them pinned for good: A and B make 200, C is too much.
TEST_CASE("bytes of the pool") {
  PinnedBuckets pool = pool_of({{}, Bytes{200}, {}});
  pool.set_fixed({30});
  REQUIRE(sources(pool, {A, B, C}) == "ppn");
  REQUIRE(bucket_of(pool, C).counts.missed == PinnedMissed{0, 0, 1, 0});
  give_back(pool, {A});
  REQUIRE(sources(pool, {C}) == "p");         // two accesses: takes the place of A, which is idle
  REQUIRE(pool.held() == Bytes{240});         // A's 100 are cached
  REQUIRE(pool.report().pool == Bytes{140});  // 30 + 70 + 40
}

// Making way is of no use where it does not make room: B is in use and would leave nothing.
TEST_CASE("nothing is evicted in vain") {
  PinnedBuckets pool = pool_of({{}, Bytes{100}, {}});
  REQUIRE(sources(pool, {B, A, A, A}) == "pnnn");
  REQUIRE(bucket_of(pool, B).resident);
}

TEST_CASE("what the process may not pin is pageable, and its empty bucket goes") {
  PinnedBuckets pool = pool_of({{}, {}, Bytes{150}});
  REQUIRE(sources(pool, {A, B}) == "pn");
  REQUIRE(bucket_of(pool, B).counts.missed == PinnedMissed{0, 0, 0, 1});
  REQUIRE(!bucket_of(pool, B).resident);
  REQUIRE(sources(pool, {C}) == "p");
}

TEST_CASE("memory that the system refuses after all") {
  PinnedBuckets pool = pool_of({});
  REQUIRE(pool.check_out(A) == PinnedSource::pinned);
  pool.take_back(A);
  REQUIRE(pool.held() == Bytes{0});
  REQUIRE(pool.report().totals.served == PinnedServed{1, 0, 0, 0});
  REQUIRE(pool.report().totals.missed.failures == 1);
  REQUIRE(pool.report().resident_buckets == 0);
}

TEST_CASE("a bucket that comes back finds its memory cached") {
  PinnedBuckets pool = pool_of({});
  sources(pool, {A});
  give_back(pool, {A});
  pool.evict_all();
  REQUIRE(pool.held() == A);
  REQUIRE(sources(pool, {A}) == "c");
  REQUIRE(pool.held() == A);
}

TEST_CASE("buffers of one rounded size are one bucket") {
  PinnedBuckets pow2 = pool_of({}, PinnedRounding::pow2);
  REQUIRE(sources(pow2, {Bytes{65}, Bytes{128}, Bytes{129}}) == "ppp");
  REQUIRE(pow2.report().buckets.size() == 2);  // 128 and 256
  REQUIRE(pow2.held() == Bytes{512});
  PinnedBuckets slab = pool_of({}, PinnedRounding::slab);
  REQUIRE(sources(slab, {Bytes{1}, Bytes{256}, Bytes{257}}) == "ppp");
  REQUIRE(slab.held() == Bytes{1024});  // 256 + 256 + 512
}

// StageHand's block-swap notes, 9.7: six times 1 GB pinned and freed cost the system 6 GB until the host
// cache is emptied. 5.5 GB in one go are 8.
TEST_CASE("freed pinned memory stays with the process until a flush") {
  PinnedBuckets pool = pool_of({}, PinnedRounding::pow2);
  for (int i = 0; i < 6; ++i) pool.check_out({gibibyte});
  REQUIRE(pool.held() == Bytes{6 * gibibyte});
  for (int i = 0; i < 6; ++i) pool.give_back({gibibyte});
  pool.evict_all();
  REQUIRE(pool.held() == Bytes{6 * gibibyte});
  REQUIRE(pool.flush() == std::vector<std::pair<Bytes, std::int64_t>>{{Bytes{gibibyte}, 6}});
  REQUIRE(pool.held() == Bytes{0});
  pool.check_out({gibibyte / 2 * 11});
  REQUIRE(pool.held() == Bytes{8 * gibibyte});
}

// The same notes: an encoder's 8 GB, then 20 GB in one piece, which PyTorch's host allocator rounds to 32, on
// a machine of 32 GB: 8 + 32 = 40 without a flush in between, 32 with one.
TEST_CASE("two phases that fit one after the other only with a flush between them") {
  for (const bool flushed : {false, true}) {
    PinnedBuckets pool = pool_of({{}, {}, Bytes{32 * gibibyte}}, PinnedRounding::pow2);
    REQUIRE(pool.check_out({8 * gibibyte}) == PinnedSource::pinned);
    pool.give_back({8 * gibibyte});
    pool.evict_all();
    if (flushed) pool.flush();
    REQUIRE(pool.check_out({20 * gibibyte}) == (flushed ? PinnedSource::pinned : PinnedSource::none));
  }
}
