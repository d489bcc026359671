// The titles of the commands that need LibTorch: the same with it and without.
#pragma once

#include "cli/command.h"

namespace stowage {

inline constexpr CommandTitle demo_title = {
    "demo", "Profile a small real model on this machine, tune it to a budget, train, and compare",
    "stowage demo -o stowage-demo"};
inline constexpr CommandTitle profile_title = {
    "profile", "Measure a model's blocks and this machine's links",
    "stowage profile --model model.json -o profile.json --machine-output machine.json"};
inline constexpr CommandTitle train_title = {
    "train", "Train for real under a plan",
    "stowage train --data text.txt --steps 20 --vram 200MiB --autotune"};

}  // namespace stowage
