#include "traces/import/work.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stowage {
namespace {

bool is_operator(const HostSpan& span) {
  return span.kind == HostKind::operation || span.kind == HostKind::backward_node;
}

// Finds where device work was asked for. Work mostly comes in the order of its launches, which are looked at
// first.
class Origins {
 public:
  Origins(const KinetoTrace& trace, const HostOrder& order)
      : trace_(&trace), order_(&order), launches_(trace.launches.size()) {
    std::iota(launches_.begin(), launches_.end(), 0U);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return trace.launches[a].correlation < trace.launches[b].correlation;
    };
    if (!std::is_sorted(launches_.begin(), launches_.end(), earlier))
      std::stable_sort(launches_.begin(), launches_.end(), earlier);
  }

  std::optional<HostMoment> of(const DeviceSpan& span) {
    if (const Launch* launch = launch_of(span.correlation)) return HostMoment{launch->thread, launch->at};
    if (span.external == 0) return std::nullopt;
    if (!named_) find_named();
    const auto named =
        std::lower_bound(named_->begin(), named_->end(), span.external,
                         [this](HostIndex a, std::uint64_t id) { return (*order_)[a].external < id; });
    if (named == named_->end() || (*order_)[*named].external != span.external) return std::nullopt;
    return HostMoment{(*order_)[*named].thread, (*order_)[*named].begin};
  }

 private:
  const Launch* launch_of(std::uint64_t correlation) {
    const auto at = [&](std::size_t place) -> const Launch& { return trace_->launches[launches_[place]]; };
    const auto first_is = [&](std::size_t place) {
      return place < launches_.size() && at(place).correlation == correlation &&
             (place == 0 || at(place - 1).correlation != correlation);
    };
    for (const std::size_t place : {place_, place_ + 1}) {
      if (first_is(place)) return &at(place_ = place);
    }
    const auto found = std::lower_bound(
        launches_.begin(), launches_.end(), correlation,
        [&](std::uint32_t a, std::uint64_t id) { return trace_->launches[a].correlation < id; });
    const auto place = static_cast<std::size_t>(found - launches_.begin());
    if (!first_is(place)) return nullptr;
    return &at(place_ = place);
  }

  void find_named() {
    named_.emplace();
    for (HostIndex index = 0; index < order_->size(); ++index) {
      if ((*order_)[index].external != 0 && is_operator((*order_)[index])) named_->push_back(index);
    }
    std::stable_sort(named_->begin(), named_->end(),
                     [&](HostIndex a, HostIndex b) { return (*order_)[a].external < (*order_)[b].external; });
  }

  const KinetoTrace* trace_;
  const HostOrder* order_;
  std::vector<std::uint32_t> launches_;  // by correlation
  std::size_t place_ = 0;                // of the launch found last
  std::optional<std::vector<HostIndex>> named_;
};

void host_work(const HostOrder& order, const std::function<void(const Work&)>& visit) {
  std::vector<Nanos> own(order.size());
  for (HostIndex index = 0; index < order.size(); ++index) {
    const HostSpan& span = order[index];
    if (!is_operator(span)) continue;
    own[index] += span.end - span.begin;
    std::optional<HostIndex> holder = order.parent(index);
    while (holder && !is_operator(order[*holder])) holder = order.parent(*holder);
    if (holder) own[*holder] -= std::min(span.end, order[*holder].end) - span.begin;
  }
  for (HostIndex index = 0; index < order.size(); ++index) {
    const HostSpan& span = order[index];
    if (!is_operator(span) || own[index] <= Nanos{}) continue;
    visit({span.begin, own[index], HostMoment{span.thread, span.begin}, WorkKind::compute});
  }
}

}  // namespace

bool has_device_work(const KinetoTrace& trace) {
  return !trace.device.empty() || !trace.copies.empty();
}

void each_work(const KinetoTrace& trace, const HostOrder& order,
               const std::function<void(const Work&)>& visit) {
  if (!has_device_work(trace)) return host_work(order, visit);
  Origins origins(trace, order);
  for (const DeviceSpan& span : trace.device) {
    const WorkKind kind = span.kind == DeviceKind::collective ? WorkKind::collective : WorkKind::compute;
    visit({span.begin, span.duration(), origins.of(span), kind});
  }
  for (const DeviceCopy& copy : trace.copies) {
    const WorkKind kind =
        copy.kind.direction == CopyDirection::on_device ? WorkKind::compute : WorkKind::host_copy;
    visit({copy.span.begin, copy.span.duration(), origins.of(copy.span), kind});
  }
}

}  // namespace stowage
