#include "traces/import/host_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stowage {

HostOrder::HostOrder(const KinetoTrace& trace) : trace_(&trace), order_(trace.host.size()) {
  sort();
  starts_.assign(trace.threads.size() + 1, 0);
  for (const std::uint32_t index : order_) ++starts_[trace.host[index].thread + 1U];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  asked_.assign(starts_.begin(), starts_.end() - 1);
  parents_.assign(order_.size(), none);
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread)
    link_parents(of(static_cast<ThreadId>(thread)));
}

void HostOrder::sort() {
  std::iota(order_.begin(), order_.end(), 0U);
  // Of spans with equal times the outer one is written first or last,
  // by profiler; modules and annotations hold operators.
  const auto outer_first = [this](std::uint32_t a, std::uint32_t b) {
    const HostSpan &x = trace_->host[a], &y = trace_->host[b];
    const auto key = [](const HostSpan& span, std::uint32_t index) {
      return std::tuple(span.thread, span.begin, -span.end, span.kind == HostKind::operation,
                        span.kind == HostKind::backward_node, index);
    };
    return key(x, a) < key(y, b);
  };
  std::sort(order_.begin(), order_.end(), outer_first);
}

void HostOrder::link_parents(Range range) {
  std::vector<HostIndex> open;
  for (HostIndex index = range.first; index < range.last; ++index) {
    const HostSpan& span = (*this)[index];
    while (!open.empty() && (*this)[open.back()].end <= span.begin) open.pop_back();
    if (!open.empty()) parents_[index] = open.back();
    open.push_back(index);
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
