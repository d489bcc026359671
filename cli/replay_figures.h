// A recording beside its simulation, and what other settings would have done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/settings.h"
#include "simulator/outcome.h"
#include "traces/import/import_report.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage {

// Of one step; absent what is not known.
struct StepFigures {
  std::optional<Nanos> step;
  std::optional<Nanos> busy;  // while anything runs on the device or, without one, in the host's operators
  // Of that, while anything but collectives, copies over the link and work from before the recording does.
  std::optional<Nanos> compute;
  std::optional<Nanos> stall;    // step - busy
  std::optional<Nanos> copying;  // while a copy crosses the link
  std::optional<Bytes> peak;     // of device memory
  // The most that a caching allocator held: simulated, for the very requests that were recorded.
  std::optional<Bytes> reserved;
};

// Under other settings; times and bytes are absent where the recording does not support them.
struct Alternative {
  Settings settings;
  Verdict verdict;
  std::optional<Nanos> step, stall;
  std::optional<Bytes> peak, host_activations;
};

struct StepReplay {
  // That was recorded, in words: "keep", "recompute of 8 of 8 blocks, in 4 segments". Empty where no blocks
  // were found.
  std::string plan;
  StepFigures recorded, simulated;
  // A step's share of what was recorded and is no part of a simulated step; none where nothing tells.
  std::optional<Nanos> collectives, orphans;
  // The simulated step with what was recorded beside compute: idle time, and collectives, copies and
  // work from before the recording with no compute beside them.
  std::optional<Nanos> step_with_waits;
  std::vector<Alternative> alternatives;
  Bytes loss;  // at the peak beside the blocks and what they start from: taken to be the loss's
  std::vector<std::string> unknown;  // for people: what cannot be told from this recording, and why
};

struct ReplayMachine {
  Machine machine;
  bool links_known;  // else no plan that copies is simulated
};

// Simulates `profile`, which was made of `report`, under the plan that was recorded: its blocks kept, or
// recomputed as they were. Medians stand for the recorded steps. Throws InputError where figures do not add
// up in 63 bits.
StepReplay replay_step(const ImportReport& report, const Profile& profile, const ReplayMachine& on);

}  // namespace stowage
