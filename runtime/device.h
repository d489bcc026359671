// A device as the runtime sees it: memory for tensors, host memory, and two copy lanes beside the compute
// thread.
//
//   compute thread   allocates, submits copies, computes, frees; waits while a pageable copy is under way
//   h2d, d2h         each carries out its copies one at a time, in the order of submission
//
// The compute thread is the one that calls. A pageable copy needs it: it begins where that thread waits for a
// copy, or before it computes, and no compute runs beside it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/memory_pool.h"
#include "runtime/pinned_pool.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

using Instant = std::chrono::steady_clock::time_point;

struct WorkSpan {
  Instant begin, end;
};

// Work that a device was given. It may still be under way, or not even have begun.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  // Whether it has ended, well or not; does not wait.
  virtual bool ended() const = 0;
  // Returns once it has ended: the host sees what it did. Throws what made it fail.
  virtual void finish() = 0;
  // Once it has ended. A copy begins when nothing but its own duration keeps it: submitted, after its lane's
  // previous copy, and after all that it had to wait for.
  virtual WorkSpan span() const = 0;
};

// A copy fails where one that it had to wait for has failed. What it has not copied then is as it was.
class Copy : public DeviceWork {
 public:
  // What is computed from now on sees the copy's result, which the host may still have to finish() for.
  // Throws what made the copy fail, if that is known.
  virtual void wait() = 0;
};

struct CopyPiece {
  void* to;
  const void* from;
  Bytes bytes;
};

// Several pieces are one copy: they pay one latency. The memory must stay until the copy has ended.
struct CopyJob {
  Lane lane;  // h2d or d2h
  std::vector<CopyPiece> pieces;
  std::vector<std::shared_ptr<Copy>> after;  // copies of the same device: does not start before their end
  bool always_pays_latency = true;  // a lane of one stream; else only where it does not follow back to back
  bool pageable = false;            // the host's side is not pinned
  Instant issued = std::chrono::steady_clock::now();  // counts as submitted then
};

class Device {
 public:
  virtual ~Device() = default;
  virtual MemoryPool& memory() = 0;
  virtual PinnedPool& host_memory() = 0;
  // Starts after everything that compute was given so far. Returns at once.
  virtual std::shared_ptr<Copy> submit(CopyJob job) = 0;
  // Calls `work` now, which is told when it began: at `earliest`, or later where a pageable copy kept it that
  // could begin by then. Lets through what it throws. A device that works behind the thread's back may not
  // have ended what it was given there when this returns.
  virtual std::shared_ptr<DeviceWork> compute(Instant earliest,
                                              const std::function<void(Instant begin)>& work) = 0;
};

}  // namespace stowage
