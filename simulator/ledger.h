// Keeps the books of memory while a program runs.
//
// Edges of one instant are entered with apply() in any order; close() then strikes the balance. So frees come
// before allocations, and what lives for no time never shows.
#pragma once

#include <optional>

#include "plan/program.h"
#include "simulator/holders.h"
#include "simulator/host_pool.h"
#include "simulator/levels.h"
#include "simulator/outcome.h"
#include "simulator/step_times.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

class Ledger {
 public:
  explicit Ledger(const Machine& machine);

  // Opens the books with the program's initial buffers, which count as allocations of the first instant.
  // `curves` and `host` may be null; all must outlive the ledger's use. Without `host` all host memory is
  // pinned.
  void open(const Program& program, Curves* curves, const HostPool* host);

  void apply(StepId step, Edge edge) {
    const Range range = program_->effect_ranges[step][static_cast<int>(edge)];
    if (range.begin == range.end) return;
    touched_ = true;
    for (std::uint32_t i = range.begin; i != range.end; ++i) {
      const MemoryEffect& effect = program_->effects[i];
      const Buffer& buffer = program_->buffers[effect.buffer];
      if (effect.alloc)
        add(levels_, buffer, rounding_, is_pageable(effect.buffer));
      else if (holders_.last_lets_go(effect.buffer))
        remove(levels_, buffer, rounding_, is_pageable(effect.buffer));
    }
  }

  void close(Nanos now) {
    if (!touched_) return;
    touched_ = false;
    if (raise_peaks() && !overrun_) note_overrun(now);
    if (curves_) sample(now);
  }

  const Levels& peaks() const { return peaks_; }
  // The first instant at which a budget is passed, once the program has run. The step is the one whose
  // allocation passes it, taking the instant's allocations in program order; the first step for the initial
  // buffers. Cost: linear in steps.
  std::optional<OutOfMemory> overrun(const StepTimes& times) const;

 private:
  bool is_pageable(BufferId buffer) const { return host_ && host_->is_pageable(buffer); }

  struct Overrun {
    MemorySpace space;
    Nanos at;
    Bytes level;
  };

  // Whether one was raised.
  bool raise_peaks() {
    bool raised = false;
    const auto raise = [&](Bytes& peak, Bytes level) {
      if (level <= peak) return;
      peak = level;
      raised = true;
    };
    raise(peaks_.device, levels_.device);
    raise(peaks_.host, levels_.host);
    raise(peaks_.host_activation, levels_.host_activation);
    raise(peaks_.host_pinned, levels_.host_pinned);
    raise(peaks_.disk, levels_.disk);
    return raised;
  }
  void note_overrun(Nanos now);
  void sample(Nanos now);

  const PinnedRounding rounding_;
  const Levels machine_budgets_;
  Levels budgets_;  // the machine's, and what the plan allows itself
  const Program* program_ = nullptr;
  Holders holders_;
  const HostPool* host_ = nullptr;
  Curves* curves_ = nullptr;
  bool touched_ = false;  // since the last close
  Levels levels_, peaks_;
  std::optional<Overrun> overrun_;
};

}  // namespace stowage
