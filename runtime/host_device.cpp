#include "runtime/host_device.h"

#include <ATen/Parallel.h>

#include <utility>

#include "runtime/done_work.h"
#include "runtime/host_pressure.h"

namespace stowage {
namespace {

constexpr std::size_t page = 4096;

// The system gives a page when it is touched, which is most of what pinning costs.
void* touched_memory(std::size_t bytes) {
  void* const data = aligned_memory(bytes);
  for (std::size_t at = 0; data && at < bytes; at += page)
    static_cast<volatile std::byte*>(data)[at] = std::byte{};
  return data;
}

HostMemorySource paced_pinning(const Pinning& pinning, PacedLinks& links) {
  return {[pinning, &links](std::size_t bytes) {
            const Nanos time = pinning.time_for({static_cast<std::int64_t>(bytes)});
            const Instant until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.value);
            void* const data = touched_memory(bytes);
            links.hold_until(until);
            return data;
          },
          system_memory().give_back};
}

}  // namespace

HostDevice::HostDevice(const Machine& machine)
    : links_(machine.links),
      host_memory_(watched(paced_pinning(machine.host.pinning, links_)), machine.host,
                   watched(system_memory())) {
  at::set_num_threads(1);
  Arena::instance().install();
  Arena::instance().set_budget(machine.device.usable());
}

HostDevice::~HostDevice() {
  Arena::instance().set_budget({});
}

std::shared_ptr<DeviceWork> HostDevice::compute(Instant earliest, const std::function<void(Instant)>& work) {
  return std::make_shared<DoneWork>(links_.compute(earliest, work));
}

}  // namespace stowage
