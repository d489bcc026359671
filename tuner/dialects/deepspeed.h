// DeepSpeed's options, as of edaa722.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer deepspeed();

}  // namespace stowage
