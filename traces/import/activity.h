// When what ran in a recording.
#pragma once

#include <vector>

#include "traces/import/intervals.h"
#include "traces/import/kineto_trace.h"

namespace stowage {

// Times of all devices together, each kind united.
struct Activity {
  explicit Activity(const KinetoTrace& trace);

  std::vector<BusyInterval> crossing;  // copies over the link
  std::vector<BusyInterval> kernels;   // collectives apart
  std::vector<BusyInterval> compute;   // kernels, and what else works on the device's own memory
  std::vector<BusyInterval> all;
  bool on_device;  // else nothing ran on one, and the host's operators are `compute` and `all`
};

}  // namespace stowage
