#include "runtime/plain_step.h"

#include <ATen/ATen.h>

#include "runtime/autocast.h"

namespace stowage {

double plain_step(Chain& chain, const State& batch) {
  State state = chain.prologue(batch);
  for (ChainBlock* block : chain.blocks()) state = block->forward(state);
  const at::Tensor loss = chain.epilogue(state, batch);
  forget_casts();
  loss.backward();
  return loss.item<double>();
}

}  // namespace stowage
