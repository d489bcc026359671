// A plan, simulated: what every command that predicts has in hand, and how it is told.
#pragma once

#include <string>
#include <vector>

#include "plan/block_table.h"
#include "plan/pinned_buckets.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/outcome.h"
#include "traces/journal.h"
#include "traces/json.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

struct Predicted {
  Program program;
  Outcome outcome;
  Timeline timeline;
  Journal journal;
  Machine machine;    // it was predicted for
  PinnedReport pool;  // after the step

  bool ran() const { return std::holds_alternative<Ran>(outcome.verdict); }
};

// A steady step: where the pool of pinned host buffers has a say, steps before it have made it what it is.
// Cost: linear in the program's steps.
Predicted predict(const BlockTable& table, const Plan& plan, const Machine& machine);

// "pinned", as files name it.
const char* name_of(MemorySpace space);

// "the backward of block 3"
std::string title_of(const Step& step);

// One sentence for people: that it fits, or what runs out where.
std::string sentence(const Predicted& predicted, const Machine& machine);

// `outcome`, and what belongs to it: how often a caching arena gave back what it had cached; of memory that
// runs out the space, step, bytes needed and free, and the least size of that memory that would do; of a
// caching arena the cause and its state then. Where pinned memory counts against the device and both together
// are too much, that is the cause, and the least size is the device's.
void write_verdict(JsonWriter& json, const Predicted& predicted);
// step_ns to host_pinned_peak_bytes; where a disk is used, disk_peak_bytes and its stalls, too; where pinned
// memory counts against the device, pinned_on_device_bytes, with the margin that it leaves.
void write_run(JsonWriter& json, const Run& run);

void write_texts(JsonWriter& json, const char* key, const std::vector<std::string>& texts);

}  // namespace stowage
