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

  // What compute loses at least to transfers that are under way for `transfers` within a span of time. Then
  // a span that holds `compute` takes no less than compute and loss together: let it take T, compute be under
  // way for A of it, and with s the share of its rate that compute loses, transfers for U. Both at once are
  // for at least U - (T - A), so that compute <= A - s (U - T + A) = (1 - s) A + s (T - U) <= T - s U.
  Nanos loss(Nanos transfers) const;
  double slowdown;  // s, and 0 where compute is not disturbed
};

}  // namespace stowage
