// Plain PyTorch: torch.utils.checkpoint, as of 2.11.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer pytorch();

}  // namespace stowage
