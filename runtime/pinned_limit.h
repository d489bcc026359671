// How much memory a process may pin here. No table says: drivers, containers and virtual machines cap it
// anywhere between a gigabyte and all there is, so it is tried.
#pragma once

#include "runtime/pinned_pool.h"
#include "traces/units.h"

namespace stowage {

// Pins in steps of 256 MiB until the source refuses or the next step would pass `most`, and gives all of it
// back. Returns four fifths of what could be pinned, in whole MiB: what is left goes to others that pin.
// Cost: what it costs to pin as much.
Bytes probe_pinned_limit(const HostMemorySource& source, Bytes most);

}  // namespace stowage
