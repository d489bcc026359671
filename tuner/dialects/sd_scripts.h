// The options of sd-scripts, as of 48d368f.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer sd_scripts();

}  // namespace stowage
