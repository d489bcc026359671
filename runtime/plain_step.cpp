#include "runtime/plain_step.h"

#include <ATen/ATen.h>

#include <map>

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

std::vector<at::Tensor> trained_parameters(Chain& chain) {
  std::map<const c10::TensorImpl*, int> owners;
  const std::vector<ChainBlock*> blocks = chain.blocks();
  const auto each = [&](auto&& see) {
    for (ChainBlock* block : blocks)
      for (const auto& all : {block->parameters().weights, block->parameters().adapters})
        for (const at::Tensor& tensor : all) see(tensor);
  };
  each([&](const at::Tensor& tensor) { ++owners[tensor.unsafeGetTensorImpl()]; });
  for (const at::Tensor& tensor : chain.outer_parameters()) ++owners[tensor.unsafeGetTensorImpl()];
  std::vector<at::Tensor> trained;
  const auto add = [&](const at::Tensor& tensor, bool own) {
    if (!tensor.requires_grad() || own != (owners[tensor.unsafeGetTensorImpl()] == 1)) return;
    for (const at::Tensor& other : trained)
      if (other.is_same(tensor)) return;
    trained.push_back(tensor);
  };
  for (std::size_t i = blocks.size(); i-- > 0;)
    for (const auto& all : {blocks[i]->parameters().weights, blocks[i]->parameters().adapters})
      for (const at::Tensor& tensor : all) add(tensor, true);
  for (const at::Tensor& tensor : chain.outer_parameters())
    add(tensor, owners[tensor.unsafeGetTensorImpl()] == 1);
  each([&](const at::Tensor& tensor) { add(tensor, false); });
  return trained;
}

}  // namespace stowage
