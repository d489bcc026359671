#include "tuner/dialects/offloaded_checkpoints.h"

namespace stowage {

void offload_checkpoints(Meaning& meaning, const BlockTable& table) {
  // The first input is what comes before the blocks, on the device.
  for (std::uint32_t i = 1; i < table.size(); ++i) {
    meaning.plan.blocks[i].offload_input = true;
    for (int way = 0; way < 3; ++way) meaning.overhead.waited += table.activation(i);
  }
  meaning.plan.transfer.max_buckets = 0;
  meaning.plan.settings.reset();
}

}  // namespace stowage
