// A row a trainer.
#include "tuner/dialects/deepspeed.h"
#include "tuner/dialects/musubi.h"
#include "tuner/dialects/onetrainer.h"
#include "tuner/dialects/pytorch.h"
#include "tuner/dialects/sd_scripts.h"
#include "tuner/dialects/simpletuner.h"
#include "tuner/dialects/torchtitan.h"
#include "tuner/dialects/torchtune.h"
#include "tuner/dialects/trainer.h"

namespace stowage {

std::span<const Trainer> trainers() {
  static const Trainer table[] = {simpletuner(), musubi_tuner(), sd_scripts(), onetrainer(),
                                  torchtune(),   torchtitan(),   deepspeed(),  pytorch()};
  return table;
}

}  // namespace stowage
