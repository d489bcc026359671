// torchtitan's options, as of 0.2.2, the last version that is configured in TOML.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer torchtitan();

}  // namespace stowage
