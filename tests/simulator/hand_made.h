// Machines and programs whose figures can be added up by hand: one byte a nanosecond.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/program.h"
#include "plan/program_builder.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "traces/timeline.h"

namespace stowage::tests {

// One byte a nanosecond each way, no latency, more memory than any test needs.
Machine plain_machine();

inline constexpr TransferSettings one_stream{};
inline constexpr TransferSettings many_streams{1, 2, 2, {}, {}};

Step store(std::uint32_t block, std::int64_t bytes, Trigger issue);
Step restore(std::uint32_t block, std::int64_t bytes, Trigger issue);
Step load(std::uint32_t block, std::int64_t bytes, Trigger issue);
Step store_weights(std::uint32_t block, std::int64_t bytes, Trigger issue);

struct Simulated {
  Outcome outcome;
  Timeline timeline;

  const Run& run() const { return outcome.run; }
  // Of the only span that does this.
  Span span(StepKind kind, std::uint32_t block) const;
};

// Simulates, and requires what must hold for any program: both forms of simulate() agree, so does the
// evaluator where it serves, and unless the program deadlocks verify() finds nothing.
Simulated simulate(const Program& program, const Machine& machine);

// Settings all the way to a run.
Simulated simulate(const Profile& profile, const Settings& settings, const Machine& machine);

inline bool at(const Span& span, std::int64_t begin, std::int64_t end) {
  return span.begin == Nanos{begin} && span.end == Nanos{end};
}

}  // namespace stowage::tests
