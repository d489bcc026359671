#include "runtime/cuda_event.h"

#include <cmath>

#include "traces/error.h"

namespace stowage {

void check_cuda(cudaError_t status, const char* what_for) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw SystemError(what_for, cudaGetErrorString(status));
}

CudaEvent::CudaEvent() {
  check_cuda(cudaEventCreate(&event_), "CUDA event");
}

CudaEvent::~CudaEvent() {
  static_cast<void>(cudaEventDestroy(event_));
}

void CudaEvent::record(cudaStream_t stream) {
  check_cuda(cudaEventRecord(event_, stream), "CUDA event");
}

void CudaEvent::hold_up(cudaStream_t stream) const {
  check_cuda(cudaStreamWaitEvent(stream, event_, 0), "CUDA stream");
}

bool CudaEvent::passed() const {
  if (cudaEventQuery(event_) != cudaErrorNotReady) return true;
  static_cast<void>(cudaGetLastError());  // else the next check would take it for a failure
  return false;
}

void CudaEvent::synchronize() const {
  check_cuda(cudaEventSynchronize(event_), "CUDA device");
}

std::chrono::nanoseconds CudaEvent::since(const CudaEvent& earlier) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "CUDA event");
  return std::chrono::nanoseconds(std::llround(static_cast<double>(milliseconds) * 1e6));
}

CudaClock::CudaClock(cudaStream_t idle) {
  zero_.record(idle);  // the first use of a stream takes long
  zero_.synchronize();
  const Instant before = std::chrono::steady_clock::now();
  zero_.record(idle);
  zero_.synchronize();
  zero_at_ = before + (std::chrono::steady_clock::now() - before) / 2;
}

}  // namespace stowage
