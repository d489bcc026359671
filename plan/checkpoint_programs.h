// Programs of the way between a checkpoint and where a plan keeps weights: what is in memory as they go. They
// say nothing of time; each piece takes one nanosecond.
#pragma once

#include <cstdint>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "traces/units.h"

namespace stowage {

// How a checkpoint is read. `staged`: all of it into host memory first. `streamed`: piece by piece.
enum class LoadMode : std::uint8_t { staged, streamed };

// Resident weights, then those of each block, to where the plan has them; with `optimizer` its states follow.
// `checkpoint` is what the weights take in the file, which may hold them in another type; absent: as many
// bytes as in memory.
Program compile_load(const BlockTable& table, const Plan& plan, LoadMode mode,
                     std::optional<Bytes> checkpoint, bool optimizer);

// Everything that is on the device is gathered on the host, and written when all is there.
Program compile_save(const BlockTable& table, const Plan& plan);

}  // namespace stowage
