// Times for a profile from a recording that knows none of a device.
#pragma once

#include "traces/profile.h"

namespace stowage {

// Gives `profile` the times of `timed`, a profile of the same model: each block's, and those around the
// blocks. Throws InputError where that one has no times, or another number of blocks.
void take_times(Profile& profile, const Profile& timed);

// Gives blocks that are equal in bytes the middle of their times: what a host's clock says of one of them is
// mostly how long the host waited there.
void even_times(Profile& profile);

}  // namespace stowage
