// The books of a pool of pinned host buffers: which requests get pinned memory, which class of buffers has to
// go for another, and what the process holds. No memory is touched here, so that the simulator and the
// runtime follow one rule.
//
// A bucket is a class of equal buffers, keyed by their rounded size. At most so many buckets and bytes are
// resident:
//
//               check_out              give_back
//   system ─────────► in use ───────────────────────► idle ──check_out──► in use
//      ▲    pinned      │  └─ mark_pending: the copy     │
//      │                │     that reads it is issued    │ its bucket is evicted
//      └──── flush ── cached ◄───────────────────────────┘
//                       ▲ given back after its bucket was evicted
//
// Freed pinned memory stays with the process: `held` never falls but by a flush.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plan/pinned_size.h"
#include "plan/settings.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

struct PinnedLimits {
  std::optional<std::int64_t> buckets;  // that are resident; 0 turns the pool off
  std::optional<Bytes> pool;            // in use and idle, with what is pinned for good
  std::optional<Bytes> process;         // all that is held

  bool operator==(const PinnedLimits&) const = default;
};

// Where a request found its memory. `none`: it has to make do with pageable memory.
enum class PinnedSource : std::uint8_t { idle, cached, pinned, none };

struct PinnedServed {
  std::int64_t accesses = 0;     // requests
  std::int64_t checkouts = 0;    // of those, with pinned memory
  std::int64_t reuses = 0;       // of those, with an idle buffer
  std::int64_t allocations = 0;  // of the others, with newly pinned memory

  bool operator==(const PinnedServed&) const = default;
};

struct PinnedMissed {
  std::int64_t disabled = 0;  // no buckets are allowed
  std::int64_t cap = 0;       // no bucket made way
  std::int64_t bytes = 0;     // the pool's bytes are spent
  std::int64_t failures = 0;  // the process may not pin more

  bool operator==(const PinnedMissed&) const = default;
};

struct PinnedTurnover {
  std::int64_t admissions = 0, evictions = 0;
  std::int64_t releases = 0;          // given back
  std::int64_t dropped_releases = 0;  // of those, after their bucket was evicted

  bool operator==(const PinnedTurnover&) const = default;
};

struct PinnedCounts {
  PinnedServed served;
  PinnedMissed missed;
  PinnedTurnover turnover;

  PinnedCounts& operator+=(const PinnedCounts& other);
  bool operator==(const PinnedCounts&) const = default;
};

struct PinnedBucket {
  Bytes size;  // of each buffer, rounded
  PinnedCounts counts;
  bool resident = false;
  std::int64_t idle = 0, in_use = 0;
  std::int64_t pending = 0;      // of those in use: only a copy under way keeps them
  std::int64_t cached = 0;       // not the bucket's any more, and still the process's
  std::int64_t last_access = 0;  // a running number over all requests

  bool operator==(const PinnedBucket&) const = default;
};

// All that is known of a pool.
struct PinnedReport {
  PinnedLimits limits;
  std::int64_t resident_buckets = 0;
  PinnedCounts totals;
  Bytes pool, held;
  std::vector<PinnedBucket>
      buckets;  // of all sizes ever asked for: by accesses, checkouts, last access, falling

  double checkout_rate() const;  // of all accesses; 0 without any
  double reuse_rate() const;     // of all checkouts
  bool operator==(const PinnedReport&) const = default;
};

class PinnedBuckets {
 public:
  explicit PinnedBuckets(PinnedRounding rounding) : rounding_(rounding) {}

  // Fewer buckets, or fewer bytes: those go that were asked for least recently.
  void set_limits(const PinnedLimits& limits);
  // What is pinned for good beside the pool: it counts against both limits in bytes.
  void set_fixed(Bytes bytes);

  // A request. A bucket that is not resident is admitted where there is room; else it replaces the resident
  // bucket with no pending buffers that scores least by (accesses, share of them that got pinned memory, last
  // access), if it scores more and that makes room enough. Cost: linear in the sizes ever asked for, where a
  // bucket has to go.
  PinnedSource check_out(Bytes bytes);
  // The last request of this size was answered with `pinned`, but the system has no memory to pin.
  void take_back(Bytes bytes);
  void mark_pending(Bytes bytes);
  void give_back(Bytes bytes);

  // Evicts every bucket. What is in use stays so.
  void evict_all();
  // Cached memory goes back to the system: how many buffers of each size.
  std::vector<std::pair<Bytes, std::int64_t>> flush();
  // Counts start anew; buffers stay.
  void reset_counts();

  Bytes rounded(Bytes bytes) const { return pinned_size(bytes, rounding_); }
  Bytes held() const { return held_; }
  PinnedReport report() const;

 private:
  PinnedBucket& bucket(Bytes bytes);
  bool fits_pool(Bytes more) const { return !limits_.pool || fixed_ + pool_ + more <= *limits_.pool; }
  bool admit(PinnedBucket& candidate);
  PinnedBucket* lowest_below(const PinnedBucket& candidate);
  PinnedBucket* least_recent();
  void evict(PinnedBucket& bucket);
  void remove_if_empty(PinnedBucket& bucket);

  const PinnedRounding rounding_;
  PinnedLimits limits_;
  std::map<Bytes, PinnedBucket> buckets_;
  std::int64_t resident_ = 0, clock_ = 0;
  Bytes fixed_, pool_, held_;
};

}  // namespace stowage
