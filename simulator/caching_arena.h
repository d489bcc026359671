// The allocator of PyTorch for CUDA: what is freed is kept for requests to come, by stream and by size.
//
//   small pool   requests to 1 MiB, cut from segments of 2 MiB
//   large pool   requests below 10 MiB, cut from segments of 20 MiB; larger ones from a segment of their own,
//   in
//                steps of 2 MiB
//
//   segment  |  used   |free|   used   |      free       |
//                       ^ takes what fits into it, and joins its neighbour when that is freed
//
// Sizes round up to 512 B. Of the free blocks of its stream and pool a request takes the smallest that is
// large enough, of equal ones that of the lowest address, and gives back what is left over: from 512 B in the
// small pool, above 1 MiB in the large one. Where none is large enough a new segment is taken from the
// device; if the budget forbids it, every segment that is wholly free is given back and the segment is asked
// for once more.
//
// With expandable segments each stream has one segment a pool, of endless addresses, of which pages of 2 MiB
// (small pool) or 20 MiB (large) are mapped where they are needed; all that is left over of a block is given
// back, and instead of segments whole free pages return to the device.
//
// A buffer that another stream used last returns once that stream has been seen to have passed it: at the
// first allocation that is `record_stream_lag` later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "simulator/arena.h"
#include "traces/machine.h"

namespace stowage {

class CachingArena final : public SimulatedArena {
 public:
  CachingArena(Bytes budget, const ArenaOptions& options);
  ~CachingArena() override;

  // Forgets everything but the memory that it has itself.
  void reset(Bytes budget);

  // Nothing is handed out for nothing: 0 bytes are 0 bytes. Throws InputError for more than 1 EiB. Cost:
  // logarithmic in the free blocks, amortized.
  bool allocate(const ArenaRequest& request, Nanos at) override;
  // Cost: logarithmic.
  void free(std::uint32_t buffer, std::uint32_t stream, Nanos at) override;
  ArenaLevels levels() const override;

  // How often the budget forbade a segment until cached ones were given back, and also where that did not
  // help.
  std::int64_t retries() const;
  // Cost: linear in the pools.
  Bytes largest_free() const;
  // Where a buffer that is alive begins; addresses are those of its pool, and begin at 0. Absent: it has no
  // bytes.
  std::optional<std::int64_t> address(std::uint32_t buffer) const;

 private:
  class Blocks;
  std::unique_ptr<Blocks> blocks_;
};

}  // namespace stowage
