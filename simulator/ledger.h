// Keeps the books of memory while a program runs.
//
// Edges of one instant are written down with apply() in any order; close() then strikes the balance. So frees
// come before allocations, and what lives for no time never shows.
#pragma once

#include <optional>
#include <vector>

#include "plan/program.h"
#include "simulator/levels.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

class Ledger {
 public:
  explicit Ledger(const Machine& machine);

  // Opens the books with the program's initial buffers, which count as allocations of the first instant.
  // `curves` may be null; both must outlive the ledger's use.
  void open(const Program& program, Curves* curves);

  void apply(StepId step, Edge edge) {
    const Range range = program_->effect_ranges[step][static_cast<int>(edge)];
    if (range.begin == range.end) return;
    entries_.push_back({step, edge});
    for (std::uint32_t i = range.begin; i != range.end; ++i) {
      const MemoryEffect& effect = program_->effects[i];
      const Buffer& buffer = program_->buffers[effect.buffer];
      if (effect.alloc)
        add(levels_, buffer, rounding_);
      else
        remove(levels_, buffer, rounding_);
    }
  }

  void close(Nanos now) {
    if (entries_.empty() && !opening_) return;
    strike(now);
  }

  const Levels& peaks() const { return peaks_; }
  // The first instant at which a budget is passed. The step is the one whose allocation passes it, taking
  // the instant's allocations in the order in which they happened; the first step for the initial buffers.
  const std::optional<OutOfMemory>& overrun() const { return overrun_; }

 private:
  void strike(Nanos now);
  void record(Nanos now);
  std::optional<MemorySpace> passed() const;
  OutOfMemory explain(MemorySpace space, Nanos now) const;

  const PinnedRounding rounding_;
  const Levels budgets_;
  const Program* program_ = nullptr;
  Curves* curves_ = nullptr;
  bool opening_ = false;  // the first instant is not closed yet
  Levels levels_, peaks_;
  std::vector<Trigger> entries_;  // edges of this instant that touch memory, of copies too
  std::optional<OutOfMemory> overrun_;
};

}  // namespace stowage
