// A program that recomputes one scope, to measure what that takes.
#pragma once

#include <optional>
#include <vector>

#include "plan/program.h"
#include "profiler/readings.h"
#include "profiler/saved_list.h"
#include "runtime/executor.h"
#include "traces/profile.h"

namespace stowage {

// Of every block that runs parts of the scope; absent where none does. Of the profile, blocks and their saved
// tensors must be known.
std::optional<Program> scope_program(Profile profile, const SavedList& saved, Scope scope);
// Notes what a step of such a program needed.
void read_scope(const Program& program, const std::vector<StepMemory>& memory,
                std::vector<BlockReadings>& blocks);

}  // namespace stowage
