#include "runtime/saved_tensors.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/scope.h"
#include "runtime/tensor_recipe.h"
#include "traces/error.h"

namespace stowage {
namespace {

StorageKey key_of(const at::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl();
}

// Anything else (sparse, nested, opaque) is more than a view of one storage.
bool is_plain(const at::Tensor& tensor) {
  return tensor.has_storage() && tensor.layout() == c10::kStrided && !tensor.is_quantized();
}

}  // namespace

class SavedTensors::Hooks final : public torch::autograd::SavedVariableHooks {
 public:
  explicit Hooks(std::shared_ptr<SavedTensors> owner) : owner_(std::move(owner)) {}

  // The tensor may be the operator's own output with its graph node, so it is not held itself: that would be
  // a cycle.
  void call_pack_hook(const at::Tensor& tensor) override {
    version_ = tensor.unsafeGetTensorImpl()->version_counter();
    version_at_save_ = version_.current_version();
    if (!owner_->counts(tensor)) {
      held_ = tensor.detach();
      return;
    }
    storage_ = owner_->index_of(tensor.storage());
    recipe_.emplace(tensor);
    if (owner_->listener_) owner_->listener_->on_save({owner_->block_, storage_, tensor, current_scope()});
  }

  // Autograd leaves this check to the hooks.
  at::Tensor call_unpack_hook() override {
    if (version_.current_version() != version_at_save_)
      throw InputError("model", "block " + std::to_string(owner_->block_),
                       "changes a tensor in place that its backward needs");
    return recipe_ ? recipe_->on(owner_->storage(storage_)) : held_;
  }

 private:
  const std::shared_ptr<SavedTensors> owner_;
  c10::VariableVersion version_;
  std::uint32_t version_at_save_ = 0;
  at::Tensor held_;  // where it is not counted
  std::uint32_t storage_ = 0;
  std::optional<TensorRecipe> recipe_;
};

SavedTensors::SavedTensors(std::uint32_t block, const std::unordered_set<StorageKey>& parameters,
                           const State& input, SaveListener* listener)
    : block_(block), parameters_(parameters), listener_(listener) {
  for (const at::Tensor& tensor : input) input_.push_back(key_of(tensor));
}

std::unique_ptr<torch::autograd::SavedVariableHooks> SavedTensors::next_hooks() {
  return std::make_unique<Hooks>(shared_from_this());
}

bool SavedTensors::counts(const at::Tensor& tensor) const {
  if (!is_plain(tensor)) return false;
  const StorageKey key = key_of(tensor);
  return !parameters_.contains(key) && std::find(input_.begin(), input_.end(), key) == input_.end();
}

std::uint32_t SavedTensors::index_of(const c10::Storage& storage) {
  const auto [found, is_new] = index_.try_emplace(storage.unsafeGetStorageImpl(), size());
  if (is_new) {
    storages_.push_back(storage);
    bytes_.push_back({static_cast<std::int64_t>(storage.nbytes())});
  }
  return found->second;
}

c10::Storage SavedTensors::take(std::uint32_t index) {
  return std::exchange(storages_[index], c10::Storage());
}

void SavedTensors::put(std::uint32_t index, c10::Storage storage) {
  storages_[index] = std::move(storage);
}

const c10::Storage& SavedTensors::storage(std::uint32_t index) const {
  if (!storages_[index])
    throw DefectError("block " + std::to_string(block_) + " needs saved storage " + std::to_string(index) +
                      " while it is away");
  return storages_[index];
}

}  // namespace stowage
