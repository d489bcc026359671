#include "profiler/link_probe.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/sample.h"
#include "runtime/pinned_pool.h"

namespace stowage {
namespace {

constexpr double indistinguishable = 0.05;

Nanos between(Instant begin, Instant end) {
  return {std::chrono::nanoseconds(end - begin).count()};
}

Nanos time_of(const Copy& copy) {
  const WorkSpan span = copy.span();
  return between(span.begin, span.end);
}

double ratio(std::vector<Nanos> alone, std::vector<Nanos> beside) {
  return static_cast<double>(spread_of(std::move(alone)).median.value) /
         static_cast<double>(spread_of(std::move(beside)).median.value);
}

// A lane with memory at both of its ends.
class Track {
 public:
  Track(Device& device, Lane lane, Bytes bytes)
      : device_(device),
        lane_(lane),
        on_device_(device.memory().allocate(bytes)),
        on_host_(device.host_memory().pin(bytes)) {}

  std::shared_ptr<Copy> submit(Bytes bytes) {
    CopyPiece piece{on_device_.get(), on_host_.data(), bytes};
    if (lane_ == Lane::d2h) piece = {on_host_.data(), on_device_.get(), bytes};
    return device_.submit({lane_, {piece}, {}, true});
  }

  c10::Device place() const { return on_device_.device(); }
  Nanos copy(Bytes bytes) {
    const std::shared_ptr<Copy> copy = submit(bytes);
    copy->finish();
    return time_of(*copy);
  }

 private:
  Device& device_;
  const Lane lane_;
  c10::DataPtr on_device_;
  HostBuffer on_host_;
};

class LinkProbe {
 public:
  LinkProbe(Device& device, const LinkProbeOptions& options)
      : device_(device),
        options_(options),
        largest_(*std::max_element(options.sizes.begin(), options.sizes.end())),
        h2d_(device, Lane::h2d, largest_),
        d2h_(device, Lane::d2h, largest_) {}

  LinkReport run() {
    LinkReport report{alone(h2d_), alone(d2h_), 1, 0};
    report.duplex = duplex();
    report.compute_slowdown = compute_slowdown();
    return report;
  }

 private:
  DirectionReport alone(Track& track) const {
    DirectionReport report;
    for (const Bytes size : options_.sizes) {
      track.copy(size);  // touches the memory first
      Nanos fastest = track.copy(size);
      for (std::int64_t i = 1; i < options_.repeats; ++i) fastest = std::min(fastest, track.copy(size));
      report.timings.push_back({size, fastest});
    }
    report.fit = fit_link(report.timings);
    return report;
  }

  // Of the two directions, the one that loses more. Rounds alone and together alternate, so that a change of
  // the machine meets both.
  double duplex() {
    std::vector<Nanos> up, down, up_beside, down_beside;
    for (std::int64_t i = 0; i < options_.repeats; ++i) {
      up.push_back(h2d_.copy(largest_));
      down.push_back(d2h_.copy(largest_));
      const auto first = h2d_.submit(largest_), second = d2h_.submit(largest_);
      first->finish();
      second->finish();
      up_beside.push_back(time_of(*first));
      down_beside.push_back(time_of(*second));
    }
    return std::min(ratio(std::move(up), std::move(up_beside)),
                    ratio(std::move(down), std::move(down_beside)));
  }

  double compute_slowdown() {
    const at::Tensor left = at::rand({compute_size, compute_size}, at::TensorOptions(h2d_.place()));
    const at::Tensor right = at::rand({compute_size, compute_size}, left.options());
    at::Tensor result = at::mm(left, right);
    std::vector<Nanos> quiet, busy;
    for (std::int64_t i = 0; i < options_.repeats; ++i) {
      quiet.push_back(compute(left, right, result));
      const auto first = h2d_.submit(largest_), second = d2h_.submit(largest_);
      busy.push_back(compute(left, right, result));
      first->finish();
      second->finish();
    }
    return std::max(0.0, 1 - ratio(std::move(quiet), std::move(busy)));
  }

  Nanos compute(const at::Tensor& left, const at::Tensor& right, at::Tensor& result) {
    const auto work = device_.compute(std::chrono::steady_clock::now(), [&](Instant) {
      at::mm_out(result, left, right);
      at::gelu_out(result, result);
    });
    work->finish();
    return between(work->span().begin, work->span().end);
  }

  static constexpr std::int64_t compute_size = 384;

  Device& device_;
  const LinkProbeOptions& options_;
  const Bytes largest_;
  Track h2d_, d2h_;
};

}  // namespace

Links LinkReport::links() const {
  const double lost_beside = duplex > 1 - indistinguishable ? 1.0 : duplex;
  const double slowdown = compute_slowdown < indistinguishable ? 0.0 : compute_slowdown;
  return {h2d.fit.link, d2h.fit.link, std::min(h2d.fit.link.rate, d2h.fit.link.rate), lost_beside, slowdown};
}

LinkReport probe_links(Device& device, const LinkProbeOptions& options) {
  return LinkProbe(device, options).run();
}

}  // namespace stowage
