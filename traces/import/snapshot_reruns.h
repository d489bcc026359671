// Of a snapshot of a checkpointed run: which block each stretch of recomputation was of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/import/memory_log.h"

namespace stowage {

// A block at work in one step, in its forward or when that was run again: operations [first, last) of the
// log.
struct SnapshotPass {
  std::uint32_t block;  // dense, in the order of first execution
  std::size_t step;
  std::size_t first, last;
};

// A forward that was run again inside the backward.
struct SnapshotRerun {
  std::size_t pass;  // what ran again; index into the passes
  std::size_t head;  // the first of the passes that ran again together with it
  std::size_t first, last;
};

// Operations of a block that was run again; those of one run follow each other.
struct RerunStretch {
  std::size_t run;
  bool whole;  // from the block's first line
  std::size_t first, last;
};

struct SnapshotReruns {
  std::vector<SnapshotRerun> reruns;  // in time order
  std::string doubt;                  // why they cannot be believed; empty where they can
};

// A run begins with the block whose input is the next of the blocks' outputs to be freed once the run's own
// memory goes: the backward that follows needs that input last.
//
//   log  .. R_2 R_3 .. frees of what R_2, R_3 kept .. free of block 1's output, 2's input ..
//
// `passes` and `stretches` are in time order. `others` are allocations that ran again and are no block's: an
// embedding's or a head's, or parts of blocks if they lie among the blocks' backwards. Cost: passes times
// runs.
SnapshotReruns assign_reruns(const std::vector<MemoryOperation>& log, const std::vector<SnapshotPass>& passes,
                             const std::vector<RerunStretch>& stretches,
                             const std::vector<std::size_t>& others);

// The allocations in operations [first, last) that are alive after them, in their order.
std::vector<std::size_t> kept_in(const std::vector<MemoryOperation>& log,
                                 const std::vector<std::size_t>& ends, std::size_t first, std::size_t last);

}  // namespace stowage
