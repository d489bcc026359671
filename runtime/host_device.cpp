#include "runtime/host_device.h"

#include <ATen/Parallel.h>

#include <cstdlib>

#include "runtime/paced_lane.h"
#include "traces/error.h"

namespace stowage {
namespace {

constexpr std::size_t alignment = 64;

HostMemorySource plain_memory() {
  return {[](std::size_t bytes) {
            return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
          },
          [](void* data) { std::free(data); }};
}

const Machine& checked(const Machine& machine) {
  if (machine.links.share_left(machine.links.h2d) != 1.0 ||
      machine.links.share_left(machine.links.d2h) != 1.0)
    throw InputError("", "links.duplex", "the host device's copies do not share a rate: expected 1");
  if (machine.links.compute_slowdown != 0.0)
    throw InputError("", "links.compute_slowdown", "the host device cannot slow compute down: expected 0");
  return machine;
}

}  // namespace

HostDevice::HostDevice(const Machine& machine)
    : host_memory_(plain_memory(), checked(machine).host.pinned_rounding, machine.host.pinned_limit),
      h2d_(std::make_unique<PacedLane>(machine.links.h2d)),
      d2h_(std::make_unique<PacedLane>(machine.links.d2h)) {
  at::set_num_threads(1);
  Arena::instance().install();
  Arena::instance().set_budget(machine.device.usable());
}

HostDevice::~HostDevice() {
  Arena::instance().set_budget({});
}

std::shared_ptr<Copy> HostDevice::submit(CopyJob job) {
  return (job.lane == Lane::h2d ? h2d_ : d2h_)->submit(std::move(job));
}

}  // namespace stowage
