// Memory over a Kineto trace: the level, step by step, and what each block does to it.
#pragma once

#include <optional>
#include <vector>

#include "traces/import/attribution.h"
#include "traces/import/block_memory.h"
#include "traces/import/steps.h"

namespace stowage {

struct RecordedMemory {
  MemoryAccount allocated;             // owners: the blocks, for what their forward allocated
  std::vector<MemorySample> reserved;  // what the caching allocator held, where the trace tells
  // By step; absent where nothing was recorded up to its end, or no block runs in it.
  std::vector<std::optional<Bytes>> step_peaks, before_blocks;
  // By step: how far the level rises between the last block's forward and the first one's backward. Absent
  // where nothing is recorded there.
  std::vector<std::optional<Bytes>> loss_rises;
};

// One block; each figure is the median over the steps in which it ran.
struct BlockBytes {
  Bytes saved;   // net of the forward, its output included; of the recomputation where there is one
  Bytes output;  // its last allocation that lives on
  Bytes forward_workspace;  // above `saved` while the forward runs
  Bytes gradient;           // allocated by the backward, and alive after that of the step
  Bytes backward_rise;      // highest level while the backward runs, above that at its begin
};

// Index into the trace's memory devices: the device with the most events, or the host where no device has
// any. Absent without memory events.
std::optional<std::uint8_t> main_memory(const KinetoTrace& trace);

RecordedMemory step_memory(const KinetoTrace& trace, std::uint8_t device, const Contexts& contexts,
                           const Blocks& blocks, const std::vector<StepWindow>& steps);

// By block.
std::vector<BlockBytes> block_bytes(const KinetoTrace& trace, std::uint8_t device, const Contexts& contexts,
                                    const Blocks& blocks, const std::vector<StepWindow>& steps);

}  // namespace stowage
