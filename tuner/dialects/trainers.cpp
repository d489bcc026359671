// A row a trainer.
#include "tuner/dialects/musubi.h"
#include "tuner/dialects/sd_scripts.h"
#include "tuner/dialects/simpletuner.h"
#include "tuner/dialects/trainer.h"

namespace stowage {

std::span<const Trainer> trainers() {
  static const Trainer table[] = {simpletuner(), musubi_tuner(), sd_scripts()};
  return table;
}

}  // namespace stowage
