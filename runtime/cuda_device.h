// A CUDA device: LibTorch computes on the current stream, and each direction has a stream of its own.
//
//   host      F_i  F_i+1  ...             launches, and runs ahead of the device
//   compute   |==F_i==|==F_i+1==|         the current stream; all device memory belongs to it
//   d2h            ^  |===store===|       begins after what compute had been given; nothing else waits for it
//   h2d                   |===load===|    compute waits for its event where it is used
//
// Streams wait for each other by events alone. The host waits for the device where it reads the loss, and at
// the end of a step; what copies leave behind is freed when their event is seen to have passed. The copies'
// pace is the hardware's own: nothing of the machine's links is played.
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <optional>
#include <string>

#include "runtime/cuda_event.h"
#include "runtime/cuda_memory.h"
#include "runtime/device.h"
#include "runtime/random_state.h"
#include "traces/machine.h"

namespace stowage {

// Why no CudaDevice can be made here: "no CUDA device", with more to say where there is. Absent: one can.
std::optional<std::string> why_no_cuda();

// The device and its host as they say of themselves, with what is in use now as reserved. Links are those of
// a PCIe 3 card until somebody measures them; half of the host's memory may be pinned until somebody probes
// it.
Machine cuda_machine(c10::DeviceIndex index = 0);

// One at a time in a process. The thread that makes it is the one that computes.
class CudaDevice final : public Device {
 public:
  // The machine's usable device memory becomes the budget. Throws SystemError where there is no such device.
  explicit CudaDevice(const Machine& machine, c10::DeviceIndex index = 0);
  ~CudaDevice() override;  // waits for the device

  c10::Device place() const { return {c10::DeviceType::CUDA, index_}; }

  CudaMemory& memory() override { return memory_; }
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override;
  // `earliest` and what copies take from compute are the device's own affair.
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override;

 private:
  class StreamWork;
  std::shared_ptr<const CudaClock> clock();

  const c10::DeviceIndex index_;
  const c10::cuda::CUDAStream h2d_, d2h_, idle_;
  CudaMemory memory_;
  PinnedPool host_memory_;
  const DeviceGenerator generator_;
  std::shared_ptr<const CudaClock> clock_;
  std::shared_ptr<StreamWork> latest_;
};

// Pinned by the driver. A refusal leaves no error behind that later calls would find.
HostMemorySource cuda_pinned_memory();

}  // namespace stowage
