// How far work has come on lanes that slow each other, by the clock: the shares of DESIGN's machine file.
//
//   h2d   |====full speed====|==duplex==|
//   d2h                      |==duplex==|==full speed==|
//
// Work is counted in nanoseconds at full speed. Not for several threads at once.
#pragma once

#include <array>
#include <chrono>

#include "runtime/device.h"
#include "traces/machine.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

class SharedRates {
 public:
  // Copies share as `duplex` says, and slow compute as `compute_slowdown` says.
  explicit SharedRates(const Links& links);

  // Something flows on the lane from `at` on, and nothing from `at` on. What is told late, after another
  // change, has gone at full speed until that one.
  void begin(Lane lane, Instant at);
  void end(Lane lane, Instant at);

  // When the lane will have done so much since it began, if nothing else begins or ends before.
  Instant reaches(Lane lane, std::chrono::nanoseconds work) const;

 private:
  struct Flow {
    bool flows = false;
    double done = 0;   // at `since_`, nanoseconds
    double share = 1;  // of full speed, from `since_` on
  };

  void settle(Instant at);
  void set_shares();

  const double in_shared_, out_shared_, slowed_;
  std::array<Flow, lane_count> lanes_;
  Instant since_{};  // the latest change
};

}  // namespace stowage
