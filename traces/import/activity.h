// When what ran in a recording.
#pragma once

#include <vector>

#include "traces/import/intervals.h"
#include "traces/import/kineto_trace.h"

namespace stowage {

// Times of all devices together, each kind united.
struct Activity {
  // `own_compute`: as a TimeSheet has it.
  Activity(const KinetoTrace& trace, std::vector<BusyInterval> own_compute);

  std::vector<BusyInterval> crossing;  // copies over the link
  std::vector<BusyInterval> kernels;   // collectives apart
  // Kernels, and what else works on the device's own memory, without what was asked for before the recording.
  std::vector<BusyInterval> compute;
  std::vector<BusyInterval> all;
  bool on_device;  // else nothing ran on one, and the host's operators are `compute` and `all`
};

}  // namespace stowage
