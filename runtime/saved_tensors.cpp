#include "runtime/saved_tensors.h"

#include <string>
#include <utility>

#include "runtime/layer.h"
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
  ~Hooks() override {
    if (place_.storage) owner_->let_go(*place_.storage);
  }

  // The tensor may be the operator's own output with its graph node, so it is not held itself: that would be
  // a cycle.
  void call_pack_hook(const at::Tensor& tensor) override {
    version_ = tensor.unsafeGetTensorImpl()->version_counter();
    version_at_save_ = version_.current_version();
    place_ = owner_->place_of(tensor, true);
    if (place_.storage) ++owner_->entries_[*place_.storage].users;
    owner_->note(tensor, place_);
    if (!place_.held.defined()) return;
    users_ = layer_listener();
    if (users_) users_->on_save(place_.held);
  }

  // Autograd leaves this check to the hooks.
  at::Tensor call_unpack_hook() override {
    if (version_.current_version() != version_at_save_)
      throw InputError("model", "block " + std::to_string(owner_->block_),
                       "changes a tensor in place that its backward needs");
    if (users_) users_->on_use(place_.held);
    return owner_->tensor_at(place_);
  }

 private:
  const std::shared_ptr<SavedTensors> owner_;
  c10::VariableVersion version_;
  std::uint32_t version_at_save_ = 0;
  SavedPlace place_;
  LayerListener* users_ = nullptr;  // of what may be a parameter
};

SavedTensors::SavedTensors(std::uint32_t block, const std::unordered_set<StorageKey>& parameters,
                           const HeldState& input, SaveListener* listener)
    : block_(block), parameters_(parameters), input_(input), listener_(listener) {}

std::unique_ptr<torch::autograd::SavedVariableHooks> SavedTensors::next_hooks() {
  return std::make_unique<Hooks>(shared_from_this());
}

bool SavedTensors::is_parameter(const at::Tensor& tensor) const {
  return parameters_.contains(key_of(tensor));
}

SavedPlace SavedTensors::place_of(const at::Tensor& tensor, bool saves) {
  SavedPlace place;
  if (is_plain(tensor) && !is_parameter(tensor)) {
    place.input = input_.index_of(tensor.storage());
    if (!place.input) place.storage = index_of(tensor.storage(), saves);
  }
  if (place.input || place.storage)
    place.recipe.emplace(tensor);
  else
    place.held = tensor.detach();
  return place;
}

at::Tensor SavedTensors::tensor_at(const SavedPlace& place) const {
  if (!place.recipe) return place.held;
  if (place.input) return place.recipe->on(input_.storage(*place.input));
  if (!is_here(*place.storage))
    throw DefectError("block " + std::to_string(block_) + " needs saved storage " +
                      std::to_string(*place.storage) + " while it is away");
  return place.recipe->on(entries_[*place.storage].storage);
}

std::optional<std::uint32_t> SavedTensors::index_of(const c10::Storage& storage, bool saves) {
  const StorageKey key = storage.unsafeGetStorageImpl();
  const auto known = index_.find(key);
  if (known != index_.end()) return known->second;
  if (!saves) return {};
  const bool stays = !dropping_ || starts_.contains(key);
  entries_.push_back({stays ? storage : c10::Storage(),
                      storage.getWeakStorageImpl(),
                      {static_cast<std::int64_t>(storage.nbytes())}});
  return index_[key] = size() - 1;
}

void SavedTensors::note(const at::Tensor& tensor, const SavedPlace& place) {
  if (expected_) expected_->check(saves_, tensor);
  ++saves_;
  if (dropping_) dropping_->note(tensor, place.storage);
  if (!listener_ || !place.storage) return;
  const Scope scope = starts_.contains(key_of(tensor)) ? Scope::other : current_scope();
  listener_->on_save({block_, *place.storage, tensor, scope});
}

void SavedTensors::let_go(std::uint32_t index) {
  Entry& entry = entries_[index];
  if (--entry.users == 0 && consuming_) entry.storage = {};
}

c10::Storage SavedTensors::take(std::uint32_t index) {
  return std::exchange(entries_[index].storage, c10::Storage());
}

void SavedTensors::put(std::uint32_t index, c10::Storage storage) {
  entries_[index].storage = std::move(storage);
}

}  // namespace stowage
