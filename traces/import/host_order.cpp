#include "traces/import/host_order.h"

#include <algorithm>
#include <numeric>

namespace stowage {

HostOrder::HostOrder(const KinetoTrace& trace) : trace_(&trace), order_(trace.host.size()) {
  collect();
  asked_.assign(starts_.begin(), starts_.end() - 1);
  parents_.assign(order_.size(), none);
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    sort(of(static_cast<ThreadId>(thread)));
    link_parents(of(static_cast<ThreadId>(thread)));
  }
}

// Puts the spans of a thread together, in the file's order.
void HostOrder::collect() {
  starts_.assign(trace_->threads.size() + 1, 0);
  for (const HostSpan& span : trace_->host) ++starts_[span.thread + 1U];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::vector<HostIndex> next(starts_.begin(), starts_.end() - 1);
  std::uint32_t index = 0;
  for (const HostSpan& span : trace_->host) order_[next[span.thread]++] = index++;
}

namespace {

// What decides where a span comes among those of its thread, in one place: the spans themselves lie
// scattered.
struct SpanKey {
  Nanos begin, end;
  std::uint32_t index;
  std::uint8_t rank;
};

// Of spans with equal times the outer one is written first or last, by profiler; modules and annotations hold
// operators.
std::uint8_t rank_of(HostKind kind) {
  if (kind == HostKind::operation) return 2;
  return kind == HostKind::backward_node ? 1 : 0;
}

bool comes_first(const SpanKey& a, const SpanKey& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.end != b.end) return a.end > b.end;
  return a.rank != b.rank ? a.rank < b.rank : a.index < b.index;
}

}  // namespace

void HostOrder::sort(Range range) {
  std::vector<SpanKey> keys;
  keys.reserve(range.last - range.first);
  for (HostIndex at = range.first; at < range.last; ++at) {
    const HostSpan& span = (*this)[at];
    keys.push_back({span.begin, span.end, order_[at], rank_of(span.kind)});
  }
  if (std::is_sorted(keys.begin(), keys.end(), comes_first)) return;
  std::sort(keys.begin(), keys.end(), comes_first);
  for (std::size_t i = 0; i < keys.size(); ++i) order_[range.first + i] = keys[i].index;
}

// Calls nest some dozens deep. What lies deeper than any has its place beside the deepest, so that walks from
// a span to those around it are short whatever a file claims.
void HostOrder::link_parents(Range range) {
  std::vector<HostIndex> open;
  for (HostIndex index = range.first; index < range.last; ++index) {
    const HostSpan& span = (*this)[index];
    while (!open.empty() && (*this)[open.back()].end <= span.begin) open.pop_back();
    if (!open.empty()) parents_[index] = open.back();
    if (open.size() < deepest) open.push_back(index);
  }
}

// The first span of the thread that begins after `at`.
HostIndex HostOrder::first_after(ThreadId thread, Nanos at) const {
  constexpr HostIndex near = 8;
  const Range range = of(thread);
  HostIndex& asked = asked_[thread];
  if (asked == range.first || (*this)[asked - 1].begin <= at) {
    const HostIndex far = std::min(range.last, asked + near);
    while (asked < far && (*this)[asked].begin <= at) ++asked;
    if (asked == range.last || (*this)[asked].begin > at) return asked;
  }
  const auto after = std::upper_bound(
      order_.begin() + range.first, order_.begin() + range.last, at,
      [this](Nanos moment, std::uint32_t index) { return moment < trace_->host[index].begin; });
  return asked = static_cast<HostIndex>(after - order_.begin());
}

std::optional<HostIndex> HostOrder::innermost(ThreadId thread, Nanos at) const {
  const HostIndex after = first_after(thread, at);
  if (after == of(thread).first) return std::nullopt;
  HostIndex index = after - 1;
  while ((*this)[index].end <= at) {
    if (parents_[index] == none) return std::nullopt;
    index = parents_[index];
  }
  return index;
}

}  // namespace stowage
