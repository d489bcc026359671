// The pinned pool while a program runs: which of its host buffers are pinned, and the time that takes.
//
// A store asks for its host buffer as it is issued. What is not pinned yet is pinned then and there, one
// buffer after the other, and the host thread, which launches compute, is held meanwhile:
//
//   compute  ====F_i====|  held  |==F_{i+1}==
//   pinning             |p1 | p2 |
//   d2h                     |store 1|store 2|          each store after its own buffer is pinned
//
// A buffer returns when the copy that reads it has ended; from that copy's issue on it is pending. A copy
// from the disk asks as a store does, one to the disk reads; pageable memory is as good to both.
#pragma once

#include <optional>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

// Whether the pool may make a difference: the plan caps it, pinning takes time, what is pinned counts against
// the device, or not all host buffers together may be pinned. Cost: linear in buffers.
bool pinned_memory_is_short(const Program& program, const Machine& machine);

class HostPool {
 public:
  explicit HostPool(const Machine& machine) : host_(machine.host) {}

  // From here on this program, and these books, which take on the program's and the machine's limits. Swapped
  // weights are pinned before the step begins. Both must outlive the pool's use. Cost: linear in steps and
  // buffers.
  void open(const Program& program, PinnedBuckets& books);

  // A copy is issued, of a pair with one buffer the one that fills it first. Calls come in the order of
  // instants, and at one instant ends of copies before all else.
  void issue(StepId copy, Nanos now);
  // What dies at this edge of a step returns.
  void pass(StepId step, Edge edge);

  bool is_pageable(BufferId buffer) const { return buffers_[buffer].place == Place::pageable; }
  bool copies_pageable(StepId copy) const {
    const std::optional<BufferId>& side = sides_[copy - first_copy_];
    return side && is_pageable(*side) && !of_disk(program_->steps[copy].lane);
  }
  // From when on an issued copy has its host memory.
  Nanos usable_from(StepId copy) const {
    const std::optional<BufferId>& side = sides_[copy - first_copy_];
    return side ? buffers_[*side].usable_from : Nanos{};
  }
  // Until when pinning holds the host thread.
  Nanos held_until() const { return held_until_; }

  PinnedReport report() const { return books_->report(); }
  // What the process has pinned, with the step's and earlier steps' buffers.
  Bytes held() const { return books_->held(); }

 private:
  enum class Place : std::uint8_t { fixed, pinned, pageable };
  struct BufferState {
    Place place = Place::fixed;
    Nanos usable_from;
  };

  void check_out(BufferId buffer, Nanos now);

  const HostMemory host_;
  const Program* program_ = nullptr;
  PinnedBuckets* books_ = nullptr;
  StepId first_copy_ = 0;
  std::vector<std::optional<BufferId>> sides_;  // of copies
  std::vector<BufferState> buffers_;
  Nanos held_until_;
};

}  // namespace stowage
