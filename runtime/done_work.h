// Work that had ended when the device gave it back.
#pragma once

#include "runtime/device.h"

namespace stowage {

class DoneWork final : public DeviceWork {
 public:
  explicit DoneWork(WorkSpan span) : span_(span) {}
  bool ended() const override { return true; }
  void finish() override {}
  WorkSpan span() const override { return span_; }

 private:
  const WorkSpan span_;
};

}  // namespace stowage
