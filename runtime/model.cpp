#include "runtime/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <string>
#include <unordered_set>

#include "traces/error.h"

namespace stowage {
namespace {

// Finds a parameter that two parts of the chain call their own: it could not be moved with both.
class Owners {
 public:
  void add(const std::vector<at::Tensor>& parameters, const std::string& owner) {
    for (const at::Tensor& parameter : parameters)
      if (!seen_.insert(parameter.unsafeGetTensorImpl()).second)
        throw InputError("model", owner, "has a parameter that belongs to another part of the model as well");
  }

 private:
  std::unordered_set<const c10::TensorImpl*> seen_;
};

}  // namespace

Model::Model(Chain& chain, Device& device) : chain_(chain), blocks_(chain.blocks()) {
  Owners owners;
  owners.add(chain.outer_parameters(), "outer parameters");
  std::vector<BlockParameters> parameters;
  for (ChainBlock* block : blocks_) {
    parameters.push_back(block->parameters());
    const std::string name = "block " + std::to_string(parameters.size() - 1);
    owners.add(parameters.back().weights, name);
    owners.add(parameters.back().adapters, name);
  }
  const auto know = [&](const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& tensor : tensors)
      parameter_storages_.insert(tensor.storage().unsafeGetStorageImpl());
  };
  for (const BlockParameters& block : parameters) {
    weights_.emplace_back(block.weights, device);
    know(block.weights);
    know(block.adapters);
  }
  know(chain.outer_parameters());
  list_trained(parameters);
}

void Model::list_trained(const std::vector<BlockParameters>& parameters) {
  for (std::uint32_t i = size(); i-- > 0;) {
    const BlockParameters& block = parameters[i];
    for (std::size_t w = 0; w < block.weights.size(); ++w)
      if (block.weights[w].requires_grad()) trained_.push_back({block.weights[w], i, w, {}, false});
    for (const at::Tensor& adapter : block.adapters)
      if (adapter.requires_grad()) trained_.push_back({adapter, i, {}, {}, false});
  }
  for (const at::Tensor& outer : chain_.outer_parameters())
    if (outer.requires_grad())
      trained_.push_back({outer, {}, {}, at::empty_like(outer, outer.options().requires_grad(false)), false});
}

at::Tensor Model::gradient(const Trained& trained) const {
  if (trained.block) return trained.parameter.grad();
  return trained.has_outer_gradient ? trained.outer_gradient : at::Tensor();
}

at::Tensor Model::value(const Trained& trained) const {
  return trained.weight ? weights_[*trained.block].where_it_lives(*trained.weight)
                        : trained.parameter.detach();
}

void Model::collect_outer_gradients() {
  const at::NoGradGuard no_grad;
  for (Trained& outer : trained_) {
    at::Tensor& made = outer.parameter.mutable_grad();
    if (outer.block || !made.defined()) continue;
    outer.has_outer_gradient ? outer.outer_gradient.add_(made) : outer.outer_gradient.copy_(made);
    outer.has_outer_gradient = true;
    made.reset();
  }
}

void Model::drop_gradients(std::uint32_t block) {
  for (Trained& trained : trained_)
    if (trained.block == block) trained.parameter.mutable_grad().reset();
}

void Model::drop_gradients() {
  for (Trained& trained : trained_) {
    trained.parameter.mutable_grad().reset();
    trained.has_outer_gradient = false;
  }
}

}  // namespace stowage
