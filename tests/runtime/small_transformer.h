// The transformer that the executor's tests train: five blocks, dropout, in full or by adapters.
#pragma once

#include "tests/runtime/trainer.h"

namespace stowage {

inline constexpr std::uint32_t small_blocks = 5;

MakeChain small_transformer(bool lora, c10::Device place = c10::DeviceType::CPU);
State small_batch(int step);
MakeBatch small_batches(c10::Device place);
// Sizes as they are; times are made up.
Profile small_profile(bool lora, Device& device, c10::Device place = c10::DeviceType::CPU);

// Settings of every kind, short of the cross product of all. `swap_modes`: those that may be used.
std::vector<Settings> settings_of_every_kind(const std::vector<SwapMode>& swap_modes);

}  // namespace stowage
