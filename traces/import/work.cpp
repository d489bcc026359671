#include "traces/import/work.h"

#include <algorithm>

namespace stowage {
namespace {

bool is_operator(const HostSpan& span) {
  return span.kind == HostKind::operation || span.kind == HostKind::backward_node;
}

// Finds where device work was asked for.
class Origins {
 public:
  Origins(const KinetoTrace& trace, const HostOrder& order)
      : order_(&order), launches_(trace.launches.begin(), trace.launches.end()) {
    std::stable_sort(launches_.begin(), launches_.end(),
                     [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
    for (HostIndex index = 0; index < order.size(); ++index) {
      if (order[index].external != 0 && is_operator(order[index])) named_.push_back(index);
    }
    std::stable_sort(named_.begin(), named_.end(),
                     [&](HostIndex a, HostIndex b) { return order[a].external < order[b].external; });
  }

  std::optional<HostMoment> of(const DeviceSpan& span) const {
    const auto launch =
        std::lower_bound(launches_.begin(), launches_.end(), span.correlation,
                         [](const Launch& a, std::uint64_t id) { return a.correlation < id; });
    if (launch != launches_.end() && launch->correlation == span.correlation) {
      return HostMoment{launch->thread, launch->at};
    }
    if (span.external == 0) return std::nullopt;
    const auto named =
        std::lower_bound(named_.begin(), named_.end(), span.external,
                         [this](HostIndex a, std::uint64_t id) { return (*order_)[a].external < id; });
    if (named == named_.end() || (*order_)[*named].external != span.external) return std::nullopt;
    return HostMoment{(*order_)[*named].thread, (*order_)[*named].begin};
  }

 private:
  const HostOrder* order_;
  std::vector<Launch> launches_;
  std::vector<HostIndex> named_;
};

std::vector<Work> host_work(const HostOrder& order) {
  std::vector<Nanos> own(order.size());
  for (HostIndex index = 0; index < order.size(); ++index) {
    const HostSpan& span = order[index];
    if (!is_operator(span)) continue;
    own[index] += span.end - span.begin;
    std::optional<HostIndex> holder = order.parent(index);
    while (holder && !is_operator(order[*holder])) holder = order.parent(*holder);
    if (holder) own[*holder] -= std::min(span.end, order[*holder].end) - span.begin;
  }
  std::vector<Work> all;
  for (HostIndex index = 0; index < order.size(); ++index) {
    const HostSpan& span = order[index];
    if (!is_operator(span) || own[index] <= Nanos{}) continue;
    all.push_back({span.begin, own[index], HostMoment{span.thread, span.begin}, WorkKind::compute});
  }
  return all;
}

}  // namespace

bool has_device_work(const KinetoTrace& trace) {
  return !trace.device.empty() || !trace.copies.empty();
}

std::vector<Work> work_of(const KinetoTrace& trace, const HostOrder& order) {
  if (!has_device_work(trace)) return host_work(order);
  const Origins origins(trace, order);
  std::vector<Work> all;
  all.reserve(trace.device.size() + trace.copies.size());
  for (const DeviceSpan& span : trace.device) {
    const WorkKind kind = span.kind == DeviceKind::collective ? WorkKind::collective : WorkKind::compute;
    all.push_back({span.begin, span.duration(), origins.of(span), kind});
  }
  for (const DeviceCopy& copy : trace.copies) {
    const WorkKind kind =
        copy.kind.direction == CopyDirection::on_device ? WorkKind::compute : WorkKind::host_copy;
    all.push_back({copy.span.begin, copy.span.duration(), origins.of(copy.span), kind});
  }
  return all;
}

}  // namespace stowage
