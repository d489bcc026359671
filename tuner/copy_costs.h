// What each thing that may travel costs on its own: link time at the full rate, and host memory.
#pragma once

#include <vector>

#include "plan/block_table.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

struct Cargo {
  Bytes bytes;
  Bytes pinned;          // rounded as the machine's host allocator does
  Nanos store, restore;  // out and back, without latency
};

struct CopyCosts {
  CopyCosts(const BlockTable& table, const Machine& machine);

  std::vector<Cargo> weights;   // of each block
  std::vector<Cargo> inputs;    // X_i of each block
  std::vector<Cargo> storages;  // as BlockTable::storages
  Nanos store_latency, restore_latency;
};

}  // namespace stowage
