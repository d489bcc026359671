// musubi-tuner's options, as of 30c658c.
#pragma once

#include "tuner/dialects/trainer.h"

namespace stowage {

Trainer musubi_tuner();

}  // namespace stowage
