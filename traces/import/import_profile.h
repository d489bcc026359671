// A profile from a recording.
#pragma once

#include <string>

#include "traces/import/import_report.h"
#include "traces/profile.h"

namespace stowage {

// What the recording tells about a step of the model: each block's times and bytes, and around them what
// belongs to no block. What it does not tell is 0: without a device's times those of the host stand in (a
// snapshot's alike for blocks that are equal in bytes),
// weights count as resident. Of a block's last allocation that lives on the profile takes it that it is the
// block's output, the next one's input. A recording in which no block was found gives one block, "model".
// `name` becomes the profile's.
Profile profile_of(const ImportReport& report, const std::string& name);

// Whether the blocks, as they were run, hold most of what they save when the recording's memory peaks. Where
// they do not, the peak is not theirs (the optimizer's, the loading of data), and no profile of blocks can
// tell it. False without memory.
bool peaks_with_blocks(const ImportReport& report);

}  // namespace stowage
