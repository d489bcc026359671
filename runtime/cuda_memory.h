// The memory of a CUDA device, as LibTorch's caching allocator gives it.
//
// Counting is exact: the allocator keeps the sum of what it was asked for. The budget is held against what it
// has reserved from the driver, which is more: sizes are rounded, and segments are kept. A buffer belongs to
// the stream that computes, whichever stream copies it; who frees it must know that the copy has ended, so
// that nothing is ever held back.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <mutex>
#include <optional>

#include "runtime/memory_pool.h"

namespace stowage {

// One at a time in a process, for a device that is initialised.
class CudaMemory final : public MemoryPool {
 public:
  explicit CudaMemory(c10::DeviceIndex index);
  ~CudaMemory() override;  // lifts the budget
  CudaMemory(const CudaMemory&) = delete;

  // No budget: all that the device has. Where more is reserved, what is only cached goes back to the driver.
  void set_budget(std::optional<Bytes> budget);

  c10::DataPtr allocate(Bytes bytes) override;
  Bytes live() const override;
  Bytes take_peak() override;
  // For what LibTorch asks for itself, `make_room` is asked while less than a quarter of the budget is left
  // to reserve and no cached block fits: the allocator tells no size.
  void on_shortage(std::function<bool()> make_room) override;

  // The refusal that LibTorch's own error of this thread's last request tells of.
  Refusal last_refusal() const;

 private:
  class Callback;
  Bytes limit() const;
  Bytes reserved() const;
  bool ask_for_room();

  const c10::DeviceIndex index_;
  const Bytes total_;
  std::optional<Bytes> budget_;
  std::mutex mutex_;
  std::function<bool()> make_room_;
};

}  // namespace stowage
