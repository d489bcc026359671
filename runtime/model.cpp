#include "runtime/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

// Finds the parameters that several parts of the chain call their own: they cannot be moved with one of them.
class Owners {
 public:
  void add(const std::vector<at::Tensor>& parameters, const std::string& owner) {
    for (const at::Tensor& parameter : parameters) {
      std::vector<std::string>& owners = owners_[parameter.unsafeGetTensorImpl()];
      if (!owners.empty() && owners.back() == owner)
        throw InputError("model", owner, "names a parameter twice");
      owners.push_back(owner);
    }
  }
  // Takes the shared ones out of `parameters`; each is listed once.
  void set_apart(std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& shared) const {
    const auto own = std::stable_partition(parameters.begin(), parameters.end(), [&](const at::Tensor& each) {
      return owners_.at(each.unsafeGetTensorImpl()).size() == 1;
    });
    for (auto each = own; each != parameters.end(); ++each)
      if (std::none_of(shared.begin(), shared.end(), [&](const at::Tensor& s) { return s.is_same(*each); }))
        shared.push_back(*each);
    parameters.erase(own, parameters.end());
  }

 private:
  std::unordered_map<const c10::TensorImpl*, std::vector<std::string>> owners_;
};

}  // namespace

Model::Model(Chain& chain, Device& device) : chain_(chain), blocks_(chain.blocks()) {
  Owners owners;
  std::vector<at::Tensor> shared = chain.outer_parameters();
  owners.add(shared, "outer parameters");
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
  for (BlockParameters& block : parameters) {
    owners.set_apart(block.weights, shared);
    owners.set_apart(block.adapters, shared);
    weights_.emplace_back(block.weights, block.layers, device);
    know(block.weights);
    know(block.adapters);
  }
  know(shared);
  list_trained(parameters, shared);
}

void Model::list_trained(const std::vector<BlockParameters>& parameters,
                         const std::vector<at::Tensor>& shared) {
  for (std::uint32_t i = size(); i-- > 0;) {
    const BlockParameters& block = parameters[i];
    for (std::size_t w = 0; w < block.weights.size(); ++w)
      if (block.weights[w].requires_grad()) trained_.push_back({block.weights[w], i, w, {}});
    for (const at::Tensor& adapter : block.adapters)
      if (adapter.requires_grad()) trained_.push_back({adapter, i, {}, {}});
  }
  for (const at::Tensor& outer : shared)
    if (outer.requires_grad())
      trained_.push_back({outer, {}, {}, at::empty_like(outer, outer.options().requires_grad(false))});
}

at::Tensor Model::gradient(const Trained& trained) const {
  if (trained.block) return trained.parameter.grad();
  return trained.has_outer_gradient ? trained.outer_gradient : at::Tensor();
}

at::Tensor Model::value(const Trained& trained) const {
  return trained.weight ? weights_[*trained.block].where_it_lives(*trained.weight)
                        : trained.parameter.detach();
}

void Model::check_gradients(std::uint32_t block) const {
  std::size_t count = 0;
  for (const Trained& trained : trained_) {
    if (trained.block != block) continue;
    if (trained.parameter.grad().defined()) return;
    ++count;
  }
  if (count > 0)
    throw InputError("model", "block " + std::to_string(block),
                     "none of its " + std::to_string(count) +
                         " trained parameters got a gradient: its output is cut from them, or from the loss");
}

Bytes Model::gradient_bytes(std::uint32_t block) const {
  Bytes sum;
  for (const Trained& trained : trained_)
    if (trained.block == block) sum += Bytes{static_cast<std::int64_t>(trained.parameter.nbytes())};
  return sum;
}

void Model::collect_outer_gradients(bool micro_batch_ends) {
  const at::NoGradGuard no_grad;
  for (Trained& outer : trained_) {
    if (outer.block) continue;
    at::Tensor& made = outer.parameter.mutable_grad();
    const bool grows_on = outer.has_earlier && outer.parts > 1 && !micro_batch_ends;
    if (made.defined() && !grows_on) {
      outer.has_outer_gradient ? outer.outer_gradient.add_(made) : outer.outer_gradient.copy_(made);
      outer.has_outer_gradient = true;
      if (!outer.has_earlier) ++outer.parts;
      made.reset();
    }
    if (micro_batch_ends) outer.has_earlier = outer.has_outer_gradient;
  }
}

void Model::set_gradients_aside(std::uint32_t block) {
  for (Trained& trained : trained_)
    if (trained.block == block) trained.earlier = std::exchange(trained.parameter.mutable_grad(), {});
}

void Model::add_up_gradients(std::uint32_t block) {
  const at::NoGradGuard no_grad;
  for (Trained& trained : trained_) {
    if (trained.block != block || !trained.earlier.defined()) continue;
    at::Tensor& made = trained.parameter.mutable_grad();
    if (made.defined()) trained.earlier.add_(made);
    made = std::exchange(trained.earlier, {});
  }
}

void Model::drop_gradients(std::uint32_t block) {
  for (Trained& trained : trained_)
    if (trained.block == block) trained.parameter.mutable_grad().reset();
}

void Model::drop_gradients() {
  for (Trained& trained : trained_) {
    trained.parameter.mutable_grad().reset();
    trained.earlier.reset();
    trained.has_outer_gradient = trained.has_earlier = false;
    trained.parts = 0;
  }
}

}  // namespace stowage
