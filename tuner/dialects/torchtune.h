// torchtune's options, as of bd2a0fc.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer torchtune();

}  // namespace stowage
