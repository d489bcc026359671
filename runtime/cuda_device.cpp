#include "runtime/cuda_device.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>

#include <utility>

#include "runtime/host_pressure.h"
#include "traces/error.h"

namespace stowage {
namespace {

using c10::cuda::getCurrentCUDAStream;

// A clock is good for as long; a new one is made only while the device has nothing to do, so that no step has
// two.
constexpr std::chrono::milliseconds clock_age{100};

// Before any member that needs it is made.
c10::DeviceIndex initialised(c10::DeviceIndex index) {
  if (const std::optional<std::string> why = why_no_cuda()) throw SystemError("CudaDevice", *why);
  if (index >= c10::cuda::device_count())
    throw SystemError("CudaDevice", "no CUDA device " + std::to_string(index));
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  c10::cuda::set_device(index);
  return index;
}

c10::cuda::CUDAStream priority_stream(c10::DeviceIndex index) {
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/true, index);
}

}  // namespace

// Between two events of a stream.
class CudaDevice::StreamWork final : public Copy {
 public:
  StreamWork(std::shared_ptr<const CudaClock> clock, c10::DeviceIndex index)
      : clock_(std::move(clock)), index_(index) {}

  bool ended() const override { return end.passed(); }
  void finish() override { end.synchronize(); }
  void wait() override { end.hold_up(getCurrentCUDAStream(index_)); }
  WorkSpan span() const override { return {clock_->instant(begin), clock_->instant(end)}; }

  CudaEvent begin, end;

 private:
  const std::shared_ptr<const CudaClock> clock_;
  const c10::DeviceIndex index_;
};

std::optional<std::string> why_no_cuda() {
  if (c10::cuda::device_count() == 0) return "no CUDA device";
  if (!at::hasCUDA())
    return "no CUDA device that this build can use: it is linked without LibTorch's CUDA kernels";
  return {};
}

Machine cuda_machine(c10::DeviceIndex index) {
  initialised(index);
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "CUDA device");
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "CUDA device");
  const Bytes host = host_memory_size();
  const Link link{{12'000'000'000}, {10'000}};
  Machine machine;
  machine.name = properties.name;
  machine.device = {{static_cast<std::int64_t>(total)}, {static_cast<std::int64_t>(total - free)}};
  machine.host = {host, {host.value / 2}, PinnedRounding::exact};
  machine.links = {link, link, {link.rate.bytes_per_second / 3}};
  machine.arena = ArenaKind::caching;
  return machine;
}

CudaDevice::CudaDevice(const Machine& machine, c10::DeviceIndex index)
    : index_(initialised(index)),
      h2d_(priority_stream(index)),
      d2h_(priority_stream(index)),
      idle_(c10::cuda::getStreamFromPool(false, index)),
      memory_(index),
      host_memory_(watched(cuda_pinned_memory()), machine.host, watched(system_memory())),
      generator_(at::globalContext().defaultGenerator(place())) {
  memory_.set_budget(machine.device.usable());
}

CudaDevice::~CudaDevice() {
  static_cast<void>(cudaDeviceSynchronize());
}

std::shared_ptr<Copy> CudaDevice::submit(CopyJob job) {
  const cudaStream_t stream = job.lane == Lane::h2d ? h2d_ : d2h_;
  const auto copy = std::make_shared<StreamWork>(clock(), index_);
  CudaEvent given;  // what compute was given so far
  given.record(getCurrentCUDAStream(index_));
  given.hold_up(stream);
  for (const std::shared_ptr<Copy>& before : job.after)
    static_cast<const StreamWork&>(*before).end.hold_up(stream);
  copy->begin.record(stream);
  const cudaMemcpyKind kind = job.lane == Lane::h2d ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  try {
    for (const CopyPiece& piece : job.pieces)
      check_cuda(
          cudaMemcpyAsync(piece.to, piece.from, static_cast<std::size_t>(piece.bytes.value), kind, stream),
          "CUDA copy");
    copy->end.record(stream);
  } catch (...) {
    static_cast<void>(
        cudaStreamSynchronize(stream));  // pieces may be under way, and nobody will wait for them
    throw;
  }
  return latest_ = copy;
}

std::shared_ptr<DeviceWork> CudaDevice::compute(Instant, const std::function<void(Instant)>& work) {
  const auto given = std::make_shared<StreamWork>(clock(), index_);
  given->begin.record(getCurrentCUDAStream(index_));
  try {
    work(std::chrono::steady_clock::now());
  } catch (const MemoryRefused&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw MemoryRefused(memory_.last_refusal());
  }
  given->end.record(getCurrentCUDAStream(index_));
  return latest_ = given;
}

std::shared_ptr<const CudaClock> CudaDevice::clock() {
  const bool old = !clock_ || std::chrono::steady_clock::now() - clock_->made_at() > clock_age;
  if (old && (!latest_ || latest_->ended())) clock_ = std::make_shared<CudaClock>(idle_);
  return clock_;
}

HostMemorySource cuda_pinned_memory() {
  return {[](std::size_t bytes) -> void* {
            void* place = nullptr;
            if (cudaHostAlloc(&place, bytes, cudaHostAllocDefault) == cudaSuccess) return place;
            static_cast<void>(cudaGetLastError());
            return nullptr;
          },
          [](void* place) { static_cast<void>(cudaFreeHost(place)); }};
}

}  // namespace stowage
