#include "runtime/shared_rates.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

using Exact = std::chrono::duration<double, std::nano>;

constexpr int compute = static_cast<int>(Lane::compute), h2d = static_cast<int>(Lane::h2d),
              d2h = static_cast<int>(Lane::d2h);

}  // namespace

SharedRates::SharedRates(const Links& links)
    : in_shared_(links.share_left(links.h2d)),
      out_shared_(links.share_left(links.d2h)),
      slowed_(1 - links.compute_slowdown) {}

void SharedRates::begin(Lane lane, Instant at) {
  settle(at);
  lanes_[static_cast<int>(lane)] = {true, Exact(since_ - at).count()};
  set_shares();
}

void SharedRates::end(Lane lane, Instant at) {
  settle(at);
  lanes_[static_cast<int>(lane)].flows = false;
  set_shares();
}

Instant SharedRates::reaches(Lane lane, std::chrono::nanoseconds work) const {
  const Flow& flow = lanes_[static_cast<int>(lane)];
  const double left = std::max(0.0, static_cast<double>(work.count()) - flow.done) / flow.share;
  return since_ + std::chrono::nanoseconds(std::llround(std::ceil(left)));
}

void SharedRates::settle(Instant at) {
  if (at <= since_) return;
  for (Flow& flow : lanes_)
    if (flow.flows) flow.done += Exact(at - since_).count() * flow.share;
  since_ = at;
}

void SharedRates::set_shares() {
  const bool in = lanes_[h2d].flows, out = lanes_[d2h].flows;
  lanes_[compute].share = in || out ? slowed_ : 1;
  lanes_[h2d].share = out ? in_shared_ : 1;
  lanes_[d2h].share = in ? out_shared_ : 1;
}

}  // namespace stowage
