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

// A copy that was submitted.
class Copy {
 public:
  virtual ~Copy() = default;
  virtual bool ended() const = 0;
  // What the compute thread does from now on sees the copy's result. Throws what made the copy fail.
  virtual void wait() = 0;
  // Once it has ended. It begins when nothing but its own duration keeps it: submitted, after its lane's
  // previous copy, and after all that it had to wait for.
  virtual Instant begin() const = 0;
  virtual Instant end() const = 0;
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

struct ComputeSpan {
  Instant begin, end;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual MemoryPool& memory() = 0;
  virtual PinnedPool& host_memory() = 0;
  // Starts after everything that compute was given so far. Returns at once.
  virtual std::shared_ptr<Copy> submit(CopyJob job) = 0;
  // Does the work now, which is told when it began: at `earliest`, or later where a pageable copy kept it
  // that could begin by then. Lets through what it throws.
  virtual ComputeSpan compute(Instant earliest, const std::function<void(Instant begin)>& work) = 0;
};

}  // namespace stowage
