// What compute loses to copies that share the machine with it.
//
//   mark: a begin        another begin
//        |...~====.~====|                 ~ latency, = transfer
//         copies issued since, and needed here
//
// Copies of the h2d lane that are issued at or after one begin and needed by a later one pass between the
// two. So does the compute between them, which loses to them what CopyCosts::loss() says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "traces/units.h"

namespace stowage {

class Losses {
 public:
  explicit Losses(double slowdown) : slowdown_(slowdown) {}

  void clear() {
    marks_.clear();
    passed_ = 0;
    most_ = nothing;
  }
  // At `time` `compute` is done; transfers that are issued from now on come after `issued` of others.
  void mark(Nanos time, Nanos compute, Nanos issued) {
    if (slowdown_ > 0) marks_.push_back({time - compute, issued});
  }
  // The same of an instant that is known late, when no less has arrived already.
  void mark_late(Nanos time, Nanos compute, Nanos issued) {
    if (slowdown_ > 0) pass({time - compute, issued});
  }
  // The least time at which `compute` is done and `arrived` of transfers have come. Neither ever falls. Less
  // two for what may have been rounded up.
  Nanos least(Nanos compute, Nanos arrived) {
    for (; passed_ < marks_.size() && marks_[passed_].issued <= arrived; ++passed_)
      most_ =
          std::max(most_, as_double(marks_[passed_].delay) - slowdown_ * as_double(marks_[passed_].issued));
    if (passed_ == 0) return {};
    return {static_cast<std::int64_t>(most_ + as_double(compute) + slowdown_ * as_double(arrived)) - 2};
  }

 private:
  struct Mark {
    Nanos delay, issued;
  };
  static constexpr double nothing = -std::numeric_limits<double>::infinity();

  void pass(const Mark& mark) {
    most_ = std::max(most_, as_double(mark.delay) - slowdown_ * as_double(mark.issued));
  }
  static double as_double(Nanos time) { return static_cast<double>(time.value); }

  const double slowdown_;
  std::vector<Mark> marks_;
  std::size_t passed_ = 0;
  double most_ = nothing;
};

}  // namespace stowage
