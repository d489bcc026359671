// Points in the work of a CUDA stream, and when they were passed.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>

#include "runtime/device.h"

namespace stowage {

// Throws SystemError with CUDA's words for the error, and clears it.
void check_cuda(cudaError_t status, const char* what_for);

// Cost: about a microsecond each to make, record, and wait for on a stream.
class CudaEvent {
 public:
  CudaEvent();
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;

  void record(cudaStream_t stream);
  // What the stream is given from now on begins after this.
  void hold_up(cudaStream_t stream) const;
  // Also where the device has failed, which synchronize() then tells.
  bool passed() const;
  void synchronize() const;
  // Both must have passed.
  std::chrono::nanoseconds since(const CudaEvent& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

// Turns events of one device into instants of this computer's clock.
class CudaClock {
 public:
  // Waits for `idle`, a stream on which nothing else runs. Good to some microseconds, and for some seconds.
  explicit CudaClock(cudaStream_t idle);

  Instant instant(const CudaEvent& passed) const { return zero_at_ + passed.since(zero_); }
  Instant made_at() const { return zero_at_; }

 private:
  CudaEvent zero_;
  Instant zero_at_;
};

}  // namespace stowage
