// A device for machines without a GPU: real tensors, real LibTorch work on one thread, real copies.
//
// Tensors live in the accounted arena under the machine's device memory as a hard budget. Copies are memcpy
// on one thread a lane, held back to what the machine's links allow; see paced_links.h:
//
//   begin                                end = begin + latency + what the link takes
//     |latency|=chunk=|  |=chunk=|  |=chunk=|
//
// A memcpy that is slower than the link just takes longer, and so does pinning: new host memory is touched
// page by page, for no less time than the machine says. Device memory is what LibTorch asks for, without the
// segments of a caching arena, and the machine is one rank's.
#pragma once

#include "runtime/arena.h"
#include "runtime/device.h"
#include "runtime/paced_links.h"
#include "traces/machine.h"

namespace stowage {

// One at a time in a process, since the arena is the process's.
class HostDevice final : public Device {
 public:
  // Installs the arena with the machine's usable device memory as its budget, and lets LibTorch compute on
  // one thread.
  explicit HostDevice(const Machine& machine);
  ~HostDevice() override;  // waits for copies; lifts the budget

  Arena& memory() override { return Arena::instance(); }
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override { return links_.submit(std::move(job)); }
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override;

 private:
  PacedLinks links_;
  PinnedPool host_memory_;
};

}  // namespace stowage
