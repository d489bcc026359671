// A row a trainer.
#include "tuner/dialects/simpletuner.h"
#include "tuner/dialects/trainer.h"

namespace stowage {

std::span<const Trainer> trainers() {
  static const Trainer table[] = {simpletuner()};
  return table;
}

}  // namespace stowage
