// The time that a call takes of one core: what the scheduler gave to others meanwhile does not count.
#pragma once

#include <time.h>

#include <algorithm>
#include <limits>

namespace stowage::benchmarks {

// Seconds of a core that this thread has had.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Seconds of a core that one call takes: the least of several batches.
template <class Function>
double processor_time_of(Function&& function) {
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < 8; ++batch) {
    int calls = 0;
    const double start = processor_seconds();
    double passed = 0;
    do {
      function();
      ++calls;
    } while ((passed = processor_seconds() - start) < 0.02);
    best = std::min(best, passed / calls);
  }
  return best;
}

}  // namespace stowage::benchmarks
