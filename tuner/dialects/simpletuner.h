// SimpleTuner's options, as of bc8e6ab.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer simpletuner();

}  // namespace stowage
