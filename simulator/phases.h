// What a run does around its steady steps, and the memory that each phase takes.
//
//   load | first step | steady step ... | validation | save            resume: load with optimizer states
//
// Each phase is a program and is simulated by itself, from an empty device: a caching arena keeps nothing
// from the phase before.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/block_table.h"
#include "plan/checkpoint_programs.h"
#include "plan/plan.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage {

enum class PhaseKind : std::uint8_t { load, first_step, steady_step, validation, save, resume };
inline constexpr std::array<std::string_view, 6> phase_names = {"load",       "first_step", "steady_step",
                                                                "validation", "save",       "resume"};

struct RunPhase {
  PhaseKind kind;
  Outcome outcome;
};

// In the order of PhaseKind. In the first step the optimizer's states come to life; validation is a forward
// pass that saves nothing, and what `phases` says it needs beside; save gathers weights and states on the
// host. Throws InputError where sizes add up to more than 63 bits hold. Cost: that of compiling and
// simulating six programs.
std::vector<RunPhase> simulate_phases(const BlockTable& table, const Plan& plan, const Machine& machine,
                                      const PhaseCosts& costs, LoadMode load);

// The peak of this memory; of the device's, of what is reserved.
Bytes peak_of(const RunPhase& phase, MemorySpace space);
// The one with the highest peak; of equals the first.
const RunPhase& worst(const std::vector<RunPhase>& phases, MemorySpace space);

}  // namespace stowage
