// OneTrainer's options, as of 23df383.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer onetrainer();

}  // namespace stowage
