// Adds up why the compute lane stood still.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/program.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

class StallLog {
 public:
  // `list` may be null: sums only. It must outlive the log.
  explicit StallLog(std::vector<Stall>* list) : list_(list) {}

  // Stalls come in time order, without gaps while one step waits. `waiting` is that step; the end of the
  // compute lane after its last.
  void add(const Stall& stall, StepId waiting) {
    sums_[static_cast<int>(stall.cause)] += stall.end - stall.begin;
    if (!list_) return;
    if (waiting_ == waiting && list_->back().cause == stall.cause)
      list_->back().end = stall.end;
    else
      list_->push_back(stall);
    waiting_ = waiting;
  }
  const std::array<Nanos, stall_cause_count>& sums() const { return sums_; }

 private:
  std::array<Nanos, stall_cause_count> sums_{};
  std::vector<Stall>* list_;
  std::optional<StepId> waiting_;  // of the last stall
};

}  // namespace stowage
