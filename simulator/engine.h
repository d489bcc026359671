// The discrete-event engine: carries out a program on a machine, on paper.
//
// The order on every lane is known, so that nothing is sorted and no queue of events is kept: the next thing
// to happen is the earliest end among the lanes. At one instant frees come before allocations, and what
// takes no time is over before memory is counted.
//
// Where the machine's links slow each other (`duplex`) or compute (`compute_slowdown`), shares are taken in
// parts of 1e9; when a rate changes, what remains of the work under way is carried over, rounded up to a
// nanosecond of full speed. A copy's latency occupies no link: it is not slowed, and slows nobody.
//
// Memory changes no time, so that what a caching arena makes of the requests is found out afterwards.
//
// Where host memory may not all be pinned, a pageable copy runs alone: it waits for the compute step under
// way, and no compute step begins beside it. What a pool has to pin first holds the compute lane as well; see
// host_pool.h.
//
// Pure and deterministic: the same program and machine give the same bytes. One Engine may simulate many
// programs and reuses its memory, so that the inner loop allocates nothing. Not shared between threads.
#pragma once

#include <memory>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "simulator/outcome.h"
#include "traces/journal.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

class Engine {
 public:
  explicit Engine(const Machine& machine);
  ~Engine();

  // Throws InputError where a time or a size passes 63 bits, and where a program uses a disk that the machine
  // does not have. Cost: linear in the program's steps, but for
  // what a caching arena costs.
  Outcome simulate(const Program& program);
  // The same, and everything that happened on the way, up to where a deadlock stopped it. The timeline's name
  // is the caller's to set: a program does not know its profile's.
  Outcome simulate(const Program& program, Timeline& timeline);
  // The same, and what was asked of the device's arena; the journal's name is the caller's, too.
  Outcome simulate(const Program& program, Timeline& timeline, Journal& journal);
  // The same, with a pool of pinned host buffers that earlier steps have left; it is left as this step leaves
  // it. The others begin with an empty pool: a first step.
  Outcome simulate(const Program& program, PinnedBuckets& pool, Timeline& timeline);
  Outcome simulate(const Program& program, PinnedBuckets& pool, Timeline& timeline, Journal& journal);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
