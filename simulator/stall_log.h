// Adds up why the compute lane stood still.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

class StallLog {
 public:
  // `list` may be null: sums only. It must outlive the log.
  explicit StallLog(std::vector<Stall>* list) : list_(list) {}

  // Stalls come in time order; those of one cause and block that touch are one.
  void add(const Stall& stall) {
    if (stall.begin == stall.end) return;
    sums_[static_cast<int>(stall.cause)] += stall.end - stall.begin;
    if (!list_) return;
    if (!list_->empty() && continues(list_->back(), stall))
      list_->back().end = stall.end;
    else
      list_->push_back(stall);
  }
  const std::array<Nanos, stall_cause_count>& sums() const { return sums_; }

 private:
  static bool continues(const Stall& before, const Stall& stall) {
    return before.cause == stall.cause && before.block == stall.block && before.end == stall.begin;
  }

  std::array<Nanos, stall_cause_count> sums_{};
  std::vector<Stall>* list_;
};

}  // namespace stowage
