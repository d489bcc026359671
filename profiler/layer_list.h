// Lists the layers of a block whose weights can come and go by themselves, as a profile names them.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/readings.h"
#include "runtime/chain.h"
#include "runtime/executor.h"

namespace stowage {

// Of block `index`, which `executor` runs; empty where it is not divided.
std::vector<LayerInventory> list_layers(const ChainBlock& block, std::uint32_t index, Executor& executor);

}  // namespace stowage
