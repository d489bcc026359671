// The transformer that the executor's tests train: five blocks, dropout, in full or by adapters.
#pragma once

#include "tests/runtime/trainer.h"

namespace stowage {

inline constexpr std::uint32_t small_blocks = 5;

MakeChain small_transformer(bool lora);
State small_batch(int step);
// Sizes as they are; times are made up.
Profile small_profile(bool lora, Device& device);

// Settings of every kind, short of the cross product of all. `swap_modes`: those that may be used.
std::vector<Settings> settings_of_every_kind(const std::vector<SwapMode>& swap_modes);

}  // namespace stowage
