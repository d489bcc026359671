// A device for machines without a GPU: real tensors, real LibTorch work on one thread, real copies.
//
// Tensors live in the accounted arena under the machine's device memory as a hard budget. Copies are memcpy
// on one thread a lane, held back to what the machine's links allow:
//
//   begin                                end = begin + latency + ceil(bytes / rate)
//     |latency|=chunk=|  |=chunk=|  |=chunk=|
//
// A memcpy that is slower than the link just takes longer. The links do not share rates: a machine with
// duplex below 1 or a compute slowdown is refused.
#pragma once

#include <memory>
#include <optional>

#include "runtime/arena.h"
#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

class PacedLane;

// One at a time in a process, since the arena is the process's.
class HostDevice final : public Device {
 public:
  // Installs the arena with the machine's usable device memory as its budget, and lets LibTorch compute on
  // one thread. Throws InputError where it cannot be that machine.
  explicit HostDevice(const Machine& machine);
  ~HostDevice() override;  // waits for copies; lifts the budget

  c10::Device place() const override { return c10::Device(c10::DeviceType::CPU); }
  Arena& memory() override { return Arena::instance(); }
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override;

 private:
  PinnedPool host_memory_;
  std::unique_ptr<PacedLane> h2d_, d2h_;
};

}  // namespace stowage
