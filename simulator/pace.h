// How fast running work proceeds, and so when the next of it ends.
//
// Work is counted in nanoseconds at full speed. A copy first passes its latency, then transfers:
//
//   begin          flows            end
//     |~~latency~~~~|===transfer=====|
//
// Only a transfer occupies its link: a latency takes its full time and slows nobody.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "simulator/step_times.h"
#include "traces/error.h"
#include "traces/machine.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

[[noreturn]] inline void refuse_time() {
  throw InputError("", "", "the step takes more than 292 years");
}

// Throws InputError where the sum passes what 63 bits hold.
inline Nanos later(Nanos at, Nanos by) {
  if (__builtin_add_overflow(at.value, by.value, &at.value)) refuse_time();
  return at;
}

// Every lane at its own full speed: an end is known when the work begins. Of the lanes only the first are
// looked at: those of the disk, the last two, are idle in most programs.
template <int lanes>
class SteadyPace {
 public:
  static constexpr int used_lanes = lanes;

  explicit SteadyPace(const Links&) { ends_.fill(never); }

  bool busy(int lane) const { return ends_[lane] != never; }
  bool due(int lane, Nanos now) const { return ends_[lane] == now; }
  void begin(int lane, Nanos now, Nanos latency, Nanos work) {
    ends_[lane] = later(later(now, latency), work);
  }
  void finish(int lane) { ends_[lane] = never; }
  // The next instant at which something changes, `never` if all lanes are idle. It is `now` where work that
  // takes no time has begun.
  Nanos next(Nanos) const {
    Nanos next = ends_[0];
    for (int lane = 1; lane < lanes; ++lane) next = std::min(next, ends_[lane]);
    return next;
  }

 private:
  std::array<Nanos, lanes> ends_;
};

// Lanes that slow each other. Rates change only between instants, once all that happens at one is done; what
// remains is then carried over to the new rate, rounded up, so that no work ends early. The disk's lanes slow
// nobody, and nobody slows them.
template <int lanes>
class SharedPace {
 public:
  static constexpr int used_lanes = lanes;

  explicit SharedPace(const Links& links)
      : in_shared_(parts(links.share_left(links.h2d))),
        out_shared_(parts(links.share_left(links.d2h))),
        slowed_(parts(1.0 - links.compute_slowdown)) {}

  bool busy(int lane) const { return lanes_[lane].busy; }
  bool due(int lane, Nanos now) const { return lanes_[lane].busy && lanes_[lane].end == now; }
  void begin(int lane, Nanos now, Nanos latency, Nanos work) {
    const Nanos flows = later(now, latency);
    lanes_[lane] = {true, flows, work, flows, 0, work.value == 0 ? flows : never};
  }
  void finish(int lane) { lanes_[lane].busy = false; }
  Nanos next(Nanos now) {
    for (int lane = 0; lane < lanes; ++lane)
      if (due(lane, now)) return now;
    settle(now);
    Nanos next = never;
    for (const Work& work : lanes_)
      if (work.busy) next = std::min(next, work.flows > now ? work.flows : work.end);
    return next;
  }

 private:
  // Rates are parts of full speed.
  static constexpr std::int64_t full = 1'000'000'000;
  static std::int64_t parts(double share) {
    return std::clamp<std::int64_t>(std::llround(share * static_cast<double>(full)), 1, full);
  }

  struct Work {
    bool busy = false;
    Nanos flows;      // where the latency ends
    Nanos remaining;  // at `since`
    Nanos since;
    std::int64_t share = 0;  // the rate from `since` on; 0: not known yet
    Nanos end = never;

    bool flows_at(Nanos now) const { return busy && flows <= now && remaining.value > 0; }
  };

  void settle(Nanos now) {
    const bool in = lanes_[1].flows_at(now), out = lanes_[2].flows_at(now);
    set_share(lanes_[0], now, in || out ? slowed_ : full);
    set_share(lanes_[1], now, out ? in_shared_ : full);
    set_share(lanes_[2], now, in ? out_shared_ : full);
    for (int lane = lane_count_without_disk; lane < lanes; ++lane) set_share(lanes_[lane], now, full);
  }

  static void set_share(Work& work, Nanos now, std::int64_t share) {
    if (!work.flows_at(now) || work.share == share) return;
    work.remaining -= done_in(now - work.since, work.share);
    work.since = now;
    work.share = share;
    work.end = later(now, time_for(work.remaining, share));
  }

  __extension__ using Wide = unsigned __int128;

  // Rounded down.
  static Nanos done_in(Nanos time, std::int64_t share) {
    if (share == full) return time;
    return {static_cast<std::int64_t>(static_cast<Wide>(time.value) * share / full)};
  }
  // Rounded up.
  static Nanos time_for(Nanos work, std::int64_t share) {
    if (share == full) return work;
    const Wide time = (static_cast<Wide>(work.value) * full + (share - 1)) / share;
    if (time > static_cast<Wide>(never.value)) refuse_time();
    return {static_cast<std::int64_t>(time)};
  }

  std::array<Work, lanes> lanes_;
  std::int64_t in_shared_, out_shared_, slowed_;
};

}  // namespace stowage
