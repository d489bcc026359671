#include "simulator/reservation.h"

#include <limits>

#include "simulator/levels.h"

namespace stowage {
namespace {

constexpr Bytes no_limit{std::numeric_limits<std::int64_t>::max()};

}  // namespace

Reservation::Reservation(const Machine& machine)
    : budget_(machine.device.usable()), options_(machine.arena_options), arena_(no_limit, options_) {}

Bytes Reservation::reserve(const Program& program, const StepTimes& times, ArenaCurves* curves) {
  requests_.list(program, times);
  arena_.reset(no_limit);
  const ArenaReplay all = replay(requests_.entries(), arena_, curves);
  if (all.refused) refuse_sizes();
  return reserved_ = all.peaks.reserved;
}

Reservation::Fit Reservation::fit() {
  if (reserved_ <= budget_) return {};
  arena_.reset(budget_);
  const ArenaReplay within = replay(requests_.entries(), arena_, nullptr);
  if (within.refused) return {arena_.retries(), shortage_at(*within.refused)};
  return {arena_.retries(), {}};
}

OutOfMemory Reservation::shortage_at(std::size_t entry) const {
  const JournalEntry& request = requests_.entries()[entry];
  const ArenaLevels levels = arena_.levels();
  ArenaShortage why{levels.live, levels.allocated, levels.reserved, arena_.largest_free(), reserved_, false};
  if (!options_.expandable_segments) {
    CachingArena expandable(budget_, {true, options_.record_stream_lag});
    why.expandable_would_do = !replay(requests_.entries(), expandable, nullptr).refused;
  }
  return {MemorySpace::device, requests_.step_of(entry), request.at,
          request.bytes,       budget_ - levels.live,    why};
}

}  // namespace stowage
