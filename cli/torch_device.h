// The device that --device names: the host device, which plays a machine, or a CUDA device where there is
// one.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>

#include "runtime/chain.h"
#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

enum class Place : std::uint8_t { host, cuda };

// Throws InputError of --device where `text` is neither, or names a device that is not here.
Place place_named(const std::string& text);

// What there is where nobody gives a machine file: this computer, with all its memory for tensors, or the
// CUDA device.
Machine machine_at(Place place);

class ChosenDevice final : public Device {
 public:
  // On the host device the machine is played; a CUDA device keeps to its memory alone.
  ChosenDevice(Place place, const Machine& machine);
  ~ChosenDevice() override;

  c10::Device place() const;
  State bring(const State& batch) const;
  // No budget: all that there is.
  void set_budget(std::optional<Bytes> budget);
  // How much may be pinned, as tried, and no more than `most`; absent where pinning is only played.
  std::optional<Bytes> probe_pinned_limit(Bytes most) const;

  MemoryPool& memory() override { return device_->memory(); }
  PinnedPool& host_memory() override { return device_->host_memory(); }
  std::shared_ptr<Copy> submit(CopyJob job) override { return device_->submit(std::move(job)); }
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override {
    return device_->compute(earliest, work);
  }

 private:
  const Place place_;
  std::unique_ptr<Device> device_;
};

}  // namespace stowage
