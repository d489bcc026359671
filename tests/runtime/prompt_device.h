// A device without a clock: what is live when depends on nothing but the program.
//
//   compute      |== k ==||== k+1 ==||== k+2 ==|
//   copy                 ^submitted  ^ended        sooner where somebody waits for it
//
// As on a machine whose links take next to no time, memory that a store leaves behind is free from the
// compute step after the next on.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/arena.h"
#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

// The machine that predicts what happens here: copies take a nanosecond.
Machine prompt_machine();

class PromptDevice final : public Device {
 public:
  PromptDevice();

  Arena& memory() override { return Arena::instance(); }
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override;
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override;

 private:
  PinnedPool host_memory_;
  std::shared_ptr<std::uint64_t> turns_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace stowage
