// What a block's forward leaves in memory.
#pragma once

#include <span>
#include <vector>

#include "traces/import/memory_log.h"

namespace stowage {

struct BlockMemory {
  std::vector<Bytes>
      kept;  // allocations that outlive the stretch, in their order; the last is taken for the output
  std::vector<std::size_t> places;  // of each of these among all allocations
  std::size_t made = 0;             // allocations in all
  Bytes released;                   // of memory from before the stretch
  Bytes rise;  // highest level within the stretch over the level at its begin, 0 at least

  Bytes net() const;
  // What autograd keeps beside the output.
  Bytes output() const { return kept.empty() ? Bytes{} : kept.back(); }
};

// Over the operations of one block's forward.
BlockMemory memory_of(std::span<const MemoryOperation> operations);

// Whether the last of what a forward kept that was run again is its output once more: it asks for the same
// the second time, and may stop before it has come to its output.
bool makes_output_again(const BlockMemory& forward, const BlockMemory& again);

// What a block that is run again would have saved if it had not been, its output included.
Bytes saved_without_rerun(const BlockMemory& forward, const BlockMemory& again);

// A caching allocator may hand out a block up to 1 MiB larger than what was asked for, where a larger one was
// free. Equal blocks ask for equal sizes: where most of two blocks' kept allocations are equal, one by one,
// and the others differ by no more than that, the smaller sizes are the right ones for both.
void even_out(std::vector<BlockMemory*>& blocks);

}  // namespace stowage
