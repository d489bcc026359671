// Random profiles, machines and settings that look for corners: nothing takes time, nothing has bytes, much
// happens at one instant, links far slower or faster than compute, one block, many groups, counts, storages
// that several tensors share, more prefetch than there is to fetch.
#pragma once

#include <cstdint>
#include <string>

#include "plan/settings.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage::reference {

struct Case {
  Profile profile;
  Machine machine;  // ideal arena, undisturbed links, memory that does not run out
  Settings settings;
};

// The same seed gives the same case everywhere. At most 40 blocks with counts expanded.
Case random_case(std::uint64_t seed);

// The same with a disk, to which some of what is offloaded goes on.
Case tiered_case(std::uint64_t seed);

// The same with layers that stream, micro-batches, an optimizer elsewhere, and a disk.
Case rich_case(std::uint64_t seed);

// The same cases that move something to the host, with less pinned memory than they would like: caps of the
// plan, a limit of the machine, pinning that takes time, one or several at once.
Case random_pooled_case(std::uint64_t seed);

// {"profile": ..., "machine": ..., "settings": ...} in one line, settings named as on the command line.
std::string to_json(const Case& random);

}  // namespace stowage::reference
