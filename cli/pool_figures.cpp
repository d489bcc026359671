#include "cli/pool_figures.h"

namespace stowage {
namespace {

void write_counts(JsonWriter& json, const PinnedCounts& counts) {
  const auto& [served, missed, turnover] = counts;
  json.field("accesses", served.accesses)
      .field("checkouts", served.checkouts)
      .field("reuses", served.reuses)
      .field("allocations", served.allocations)
      .field("disabled_misses", missed.disabled)
      .field("cap_misses", missed.cap)
      .field("byte_misses", missed.bytes)
      .field("allocation_failures", missed.failures)
      .field("admissions", turnover.admissions)
      .field("evictions", turnover.evictions)
      .field("releases", turnover.releases)
      .field("dropped_releases", turnover.dropped_releases);
}

void write_bucket(JsonWriter& json, const PinnedBucket& bucket) {
  json.begin_row().field("bytes", bucket.size);
  write_counts(json, bucket.counts);
  json.field("resident", bucket.resident)
      .field("available_buffers", bucket.idle)
      .field("buffers_in_use", bucket.in_use)
      .field("pending_buffers", bucket.pending)
      .field("last_access", bucket.last_access)
      .end_object();
}

}  // namespace

void write_pool(JsonWriter& json, const PinnedReport& pool) {
  json.key("pinned_pool").begin_object().key("max_buckets");
  pool.limits.buckets ? json.value(*pool.limits.buckets) : json.null();
  json.field("resident_buckets", pool.resident_buckets).field("tracked_buckets", pool.buckets.size());
  write_counts(json, pool.totals);
  json.field("checkout_rate", pool.checkout_rate())
      .field("reuse_rate", pool.reuse_rate())
      .field("pool_bytes", pool.pool)
      .field("held_bytes", pool.held)
      .key("buckets")
      .begin_array();
  for (const PinnedBucket& bucket : pool.buckets) write_bucket(json, bucket);
  json.end_array().end_object();
}

}  // namespace stowage
