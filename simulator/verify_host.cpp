// Replays the pinned pool from the spans alone, with a rule of its own: which copies had to be pageable, what
// was pinned and for how long, and what the counters must be.
#include <algorithm>
#include <map>
#include <tuple>

#include "simulator/evidence.h"

namespace stowage {
namespace {

// Something that happens to a host buffer.
struct Event {
  enum class What : std::uint8_t { returned, asked, pending };

  Nanos at;
  bool
      at_compute;  // at an edge of the compute lane, which comes after the ends of copies at the same instant
  Trigger edge;
  StepId copy;
  What what;
  BufferId buffer;

  int turn;  // of those issued together: a buffer is read into before it is read

  auto key() const { return std::tuple(at, at_compute, edge, what != What::returned, turn, copy); }
};

// Host buffers that the pool serves, by the copies that they come and go with.
std::vector<Event> events_of(const Evidence& evidence) {
  const Program& program = evidence.program;
  std::vector<Event> events;
  std::vector<bool> served(program.buffers.size());
  const StepId first_copy = program.lanes[static_cast<int>(Lane::compute)].end;
  for (StepId copy = first_copy; copy < program.steps.size(); ++copy) {
    const std::optional<BufferId> buffer = host_side(program, copy);
    if (!buffer || program.buffers[*buffer].bytes == Bytes{}) continue;
    const Lane lane = program.steps[copy].lane;
    const bool asks = lane == Lane::d2h || lane == Lane::disk_read;
    if (asks) served[*buffer] = true;
    events.push_back({evidence.ready(copy), true, program.steps[copy].issue, copy,
                      asks ? Event::What::asked : Event::What::pending, *buffer,
                      lane == Lane::disk_read ? -1 : 0});
  }
  std::erase_if(events, [&](const Event& event) { return !served[event.buffer]; });
  for (StepId step = 0; step < program.steps.size(); ++step)
    for (const Edge edge : {Edge::ready, Edge::begin, Edge::end})
      for (const MemoryEffect& effect : program.effects_at(step, edge)) {
        if (effect.alloc || !served[effect.buffer]) continue;
        const bool copy = program.steps[step].is_copy();
        const Nanos at = edge == Edge::ready   ? evidence.ready(step)
                         : edge == Edge::begin ? evidence.begin(step)
                                               : evidence.end(step);
        events.push_back({at, !copy, copy ? Trigger{} : Trigger{step, edge}, step, Event::What::returned,
                          effect.buffer, 0});
      }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.key() < b.key(); });
  return events;
}

class PoolReplay {
 public:
  PoolReplay(const Evidence& evidence, const PinnedReport* before) : evidence_(evidence) {
    if (before)
      for (const PinnedBucket& bucket : before->buckets) {
        buckets_[bucket.size] = bucket;
        clock_ = std::max(clock_, bucket.last_access);
      }
    for (const BufferId id : evidence.program.initial)
      if (is_pinnable(evidence.program.buffers[id])) fixed_ += size_of(id);
    while (over_the_caps() && evict_oldest()) continue;
  }

  // Whether the buffer is pinned, and whether it had to be pinned anew.
  std::pair<bool, bool> ask(BufferId id) {
    PinnedBucket& bucket = buckets_[size_of(id)];
    bucket.size = size_of(id);
    bucket.last_access = ++clock_;
    ++bucket.counts.served.accesses;
    const auto [pinned, anew] = serve(bucket);
    if (pinned) {
      ++bucket.counts.served.checkouts;
      ++bucket.in_use;
    }
    return {pinned, anew};
  }
  void pend(BufferId id) { ++buckets_[size_of(id)].pending; }
  void take(BufferId id) {
    PinnedBucket& bucket = buckets_[size_of(id)];
    --bucket.in_use;
    bucket.pending = std::max<std::int64_t>(0, bucket.pending - 1);
    ++bucket.counts.turnover.releases;
    ++(bucket.resident ? bucket.idle : bucket.cached);
    bucket.counts.turnover.dropped_releases += !bucket.resident;
  }

  Bytes size_of(BufferId id) const {
    const Bytes bytes = evidence_.program.buffers[id].bytes;
    switch (evidence_.machine.host.pinned_rounding) {
      case PinnedRounding::exact:
        return bytes;
      case PinnedRounding::slab:
        return {(bytes.value + 255) / 256 * 256};
      case PinnedRounding::pow2:
        break;
    }
    std::int64_t power = bytes.value == 0 ? 0 : 1;
    while (power < bytes.value) power *= 2;
    return {power};
  }

  std::map<std::string, std::int64_t> counters() const {
    PinnedCounts sum;
    std::int64_t resident = 0;
    for (const auto& [size, bucket] : buckets_) {
      sum += bucket.counts;
      resident += bucket.resident;
    }
    return {{"pinned_accesses", sum.served.accesses},
            {"pinned_checkouts", sum.served.checkouts},
            {"pinned_reuses", sum.served.reuses},
            {"pinned_allocations", sum.served.allocations},
            {"pinned_disabled_misses", sum.missed.disabled},
            {"pinned_cap_misses", sum.missed.cap},
            {"pinned_byte_misses", sum.missed.bytes},
            {"pinned_allocation_failures", sum.missed.failures},
            {"pinned_admissions", sum.turnover.admissions},
            {"pinned_evictions", sum.turnover.evictions},
            {"pinned_releases", sum.turnover.releases},
            {"pinned_dropped_releases", sum.turnover.dropped_releases},
            {"pinned_resident_buckets", resident},
            {"pinned_tracked_buckets", static_cast<std::int64_t>(buckets_.size())},
            {"pinned_held_bytes", held().value}};
  }
  Bytes held() const { return in_pool() + cached(); }

 private:
  const PinnedCaps& caps() const { return evidence_.program.pinned; }
  Bytes in_pool() const {
    Bytes bytes = fixed_;
    for (const auto& [size, bucket] : buckets_) bytes += size * (bucket.idle + bucket.in_use);
    return bytes;
  }
  Bytes cached() const {
    Bytes bytes;
    for (const auto& [size, bucket] : buckets_) bytes += size * bucket.cached;
    return bytes;
  }
  std::int64_t residents() const {
    return std::count_if(buckets_.begin(), buckets_.end(),
                         [](const auto& each) { return each.second.resident; });
  }
  bool over_the_caps() const {
    return (caps().buckets && residents() > *caps().buckets) || (caps().bytes && in_pool() > *caps().bytes);
  }
  bool evict_oldest() {
    PinnedBucket* oldest = nullptr;
    for (auto& [size, bucket] : buckets_)
      if (bucket.resident && (!oldest || bucket.last_access < oldest->last_access)) oldest = &bucket;
    if (oldest) evict(*oldest);
    return oldest;
  }
  static void evict(PinnedBucket& bucket) {
    bucket.cached += std::exchange(bucket.idle, 0);
    bucket.resident = false;
    ++bucket.counts.turnover.evictions;
  }

  std::pair<bool, bool> serve(PinnedBucket& bucket) {
    PinnedMissed& missed = bucket.counts.missed;
    if (caps().buckets == 0) return ++missed.disabled, std::pair(false, false);
    if (!bucket.resident) {
      const bool full = caps().buckets && residents() >= *caps().buckets;
      if ((full || !room(bucket.size)) && !make_way(bucket))
        return ++(full ? missed.cap : missed.bytes), std::pair(false, false);
      bucket.resident = true;
      ++bucket.counts.turnover.admissions;
    }
    if (bucket.idle > 0) return --bucket.idle, ++bucket.counts.served.reuses, std::pair(true, false);
    if (!room(bucket.size)) return ++missed.bytes, std::pair(false, false);
    if (bucket.cached > 0) return --bucket.cached, std::pair(true, false);
    if (held() + bucket.size > evidence_.machine.host.pinned_limit) {
      if (bucket.in_use == 0) bucket.resident = false;
      return ++missed.failures, std::pair(false, false);
    }
    return ++bucket.counts.served.allocations, std::pair(true, true);
  }
  bool room(Bytes more) const { return !caps().bytes || in_pool() + more <= *caps().bytes; }

  // The one that scores least has to go, if the newcomer scores more and has room then.
  bool make_way(const PinnedBucket& newcomer) {
    PinnedBucket* least = nullptr;
    for (auto& [size, bucket] : buckets_)
      if (bucket.resident && bucket.pending == 0 && (!least || below(bucket, *least))) least = &bucket;
    if (!least || !below(*least, newcomer) || !room(newcomer.size - least->size * least->idle)) return false;
    evict(*least);
    return true;
  }
  static bool below(const PinnedBucket& a, const PinnedBucket& b) {
    __extension__ using Wide = __int128;
    const PinnedServed &x = a.counts.served, &y = b.counts.served;
    const Wide share_a = Wide{x.checkouts} * y.accesses, share_b = Wide{y.checkouts} * x.accesses;
    return std::tie(x.accesses, share_a, a.last_access) < std::tie(y.accesses, share_b, b.last_access);
  }

  const Evidence& evidence_;
  std::map<Bytes, PinnedBucket> buckets_;
  std::int64_t clock_ = 0;
  Bytes fixed_;
};

void replay(Evidence& evidence, const PinnedReport* before, Findings& findings) {
  const std::vector<Event> events = events_of(evidence);
  PoolReplay pool(evidence, before);
  std::vector<bool> pinned(evidence.program.buffers.size(), true);
  evidence.host.usable_from.assign(evidence.program.steps.size(), {});
  Nanos held;
  for (const Event& event : events) {
    if (event.what == Event::What::asked) {
      const auto [got, anew] = pool.ask(event.buffer);
      pinned[event.buffer] = got;
      if (!anew || evidence.machine.host.pinning.free()) continue;
      const Nanos from = std::max(held, event.at);
      held = from + evidence.machine.host.pinning.time_for(pool.size_of(event.buffer));
      evidence.host.pinning.push_back({from, held});
      evidence.host.usable_from[event.copy] = held;
    } else if (pinned[event.buffer]) {
      event.what == Event::What::pending ? pool.pend(event.buffer) : pool.take(event.buffer);
    }
  }
  evidence.host.held = pool.held();
  const StepId first_copy = evidence.program.lanes[static_cast<int>(Lane::compute)].end;
  for (StepId copy = first_copy; copy < evidence.program.steps.size(); ++copy) {
    const std::optional<BufferId> side = host_side(evidence.program, copy);
    const bool to_device = evidence.program.steps[copy].lane <= Lane::d2h;
    const bool should = to_device && side && !pinned[*side];
    if (evidence.spans[copy]->pageable != should)
      findings.push_back(title(evidence.program, copy) +
                         (should ? " should be pageable" : " should be pinned"));
  }
  const std::map<std::string, std::int64_t> counters = pool.counters();
  if (counters.at("pinned_accesses") == 0) return;
  for (const auto& [name, value] : counters) {
    const auto found = evidence.timeline.counters.find(name);
    if (found == evidence.timeline.counters.end() || found->second != value)
      findings.push_back("counter " + name + " should be " + std::to_string(value));
  }
}

bool overlap(const Interval& a, const Interval& b) {
  return a.begin < b.end && b.begin < a.end;
}

void check_alone(const Evidence& evidence, StepId copy, const Interval& span, Findings& findings) {
  for (StepId step = 0; step < evidence.program.steps.size(); ++step) {
    const bool excluded =
        !evidence.program.steps[step].is_copy() || (evidence.spans[step]->pageable && step > copy);
    if (excluded && overlap(span, {evidence.begin(step), evidence.end(step)}))
      findings.push_back(title(evidence.program, copy) + " is pageable, but " +
                         title(evidence.program, step) + " runs beside it at " +
                         text(std::max(span.begin, evidence.begin(step))));
  }
  for (const Interval& pinning : evidence.host.pinning)
    if (pinning.begin < span.begin && span.begin < pinning.end)
      findings.push_back(title(evidence.program, copy) + " begins at " + text(span.begin) +
                         ", while host memory is being pinned");
}

}  // namespace

void check_host(Evidence& evidence, const PinnedReport* before, Findings& findings) {
  if (evidence.simulated()) replay(evidence, before, findings);
  for (StepId step = 0; step < evidence.program.steps.size(); ++step) {
    const Interval span{evidence.begin(step), evidence.end(step)};
    if (evidence.spans[step]->pageable) {
      evidence.host.pageable.push_back(span);
      check_alone(evidence, step, span, findings);
    } else if (!evidence.program.steps[step].is_copy()) {
      for (const Interval& pinning : evidence.host.pinning)
        if (pinning.begin < span.begin && span.begin < pinning.end)
          findings.push_back(title(evidence.program, step) + " begins at " + text(span.begin) +
                             ", while host memory is being pinned");
    }
  }
  std::sort(evidence.host.pageable.begin(), evidence.host.pageable.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
}

}  // namespace stowage
