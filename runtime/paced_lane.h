// One direction of the link of a host device: a thread that copies no faster than the link would.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/device.h"
#include "traces/machine.h"

namespace stowage {

class PacedLane {
 public:
  explicit PacedLane(const Link& link);
  ~PacedLane();  // carries out what was submitted, then ends

  std::shared_ptr<Copy> submit(CopyJob job);

 private:
  class PacedCopy;

  void work();
  void carry_out(PacedCopy& copy);

  const Link link_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<PacedCopy>> waiting_;
  bool closing_ = false;
  std::optional<Instant> previous_end_;  // the thread's own
  std::thread thread_;
};

}  // namespace stowage
