#include "runtime/cuda_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/cuda_event.h"

namespace stowage {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

constexpr std::size_t of_all_sizes = 0;  // statistics are kept by kind of pool; this is their sum

std::atomic<CudaMemory*> memory_now{nullptr};
thread_local Bytes last_refused;

Bytes total_memory() {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "CUDA device");
  return {static_cast<std::int64_t>(total)};
}

// LibTorch's error has the size in words only. Observers cannot be taken back, so there is one a process.
void remember_refusals() {
  [[maybe_unused]] static const bool attached = [] {
    caching::attachOutOfMemoryObserver([](std::int64_t, std::size_t requested, std::size_t, std::size_t) {
      last_refused = {static_cast<std::int64_t>(requested)};
    });
    return true;
  }();
}

}  // namespace

// Called with the allocator's lock, which this thread may take again, where no cached block fits.
class CudaMemory::Callback final : public c10::FreeMemoryCallback {
 public:
  bool Execute() override {
    CudaMemory* const memory = memory_now;
    return memory && memory->limit() - memory->reserved() < Bytes{memory->limit().value / 4} &&
           memory->ask_for_room();
  }
  static void install() {
    [[maybe_unused]] static const bool installed = [] {
      c10::FreeCudaMemoryCallbacksRegistry()->Register(
          "stowage", [] { return std::unique_ptr<c10::FreeMemoryCallback>(new Callback); });
      return true;
    }();
  }
};

CudaMemory::CudaMemory(c10::DeviceIndex index) : index_(index), total_(total_memory()) {
  remember_refusals();
  Callback::install();
  memory_now = this;
}

CudaMemory::~CudaMemory() {
  memory_now = nullptr;
  caching::setMemoryFraction(1, index_);
}

void CudaMemory::set_budget(std::optional<Bytes> budget) {
  budget_ = budget;
  if (reserved() > limit()) caching::emptyCache();
  const double share = static_cast<double>(limit().value) / static_cast<double>(total_.value);
  caching::setMemoryFraction(std::clamp(share, 0.0, 1.0), index_);
}

c10::DataPtr CudaMemory::allocate(Bytes bytes) {
  for (;;) {
    if (live() + bytes <= limit()) try {
        return caching::get()->allocate(static_cast<std::size_t>(bytes.value));
      } catch (const MemoryRefused&) {
        throw;
      } catch (const c10::OutOfMemoryError&) {
      }
    if (!ask_for_room()) throw MemoryRefused({Space::device, bytes, live(), limit()});
  }
}

Bytes CudaMemory::live() const {
  return {caching::getDeviceStats(index_).requested_bytes[of_all_sizes].current};
}

Bytes CudaMemory::take_peak() {
  const Bytes peak{caching::getDeviceStats(index_).requested_bytes[of_all_sizes].peak};
  caching::resetPeakStats(index_);
  return peak;
}

void CudaMemory::on_shortage(std::function<bool()> make_room) {
  const std::lock_guard lock(mutex_);
  make_room_ = std::move(make_room);
}

Refusal CudaMemory::last_refusal() const {
  return {Space::device, last_refused, live(), limit()};
}

Bytes CudaMemory::limit() const {
  return std::min(total_, budget_.value_or(total_));
}

Bytes CudaMemory::reserved() const {
  return {caching::getDeviceStats(index_).reserved_bytes[of_all_sizes].current};
}

bool CudaMemory::ask_for_room() {
  std::function<bool()> asked;
  {
    const std::lock_guard lock(mutex_);
    asked = make_room_;
  }
  return asked && asked();
}

}  // namespace stowage
