#include "runtime/held_state.h"

#include <algorithm>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

// Index of the tensor's storage among `storages`; appended where it is new.
std::size_t place_of(const at::Tensor& tensor, std::vector<c10::Storage>& storages) {
  const auto found = std::find_if(storages.begin(), storages.end(), [&](const c10::Storage& each) {
    return each.is_alias_of(tensor.storage());
  });
  const auto index = static_cast<std::size_t>(found - storages.begin());
  if (found == storages.end()) storages.push_back(tensor.storage());
  return index;
}

Bytes size_of(const c10::Storage& storage) {
  return {static_cast<std::int64_t>(storage.nbytes())};
}

}  // namespace

HeldState::HeldState(State state) : state_(std::move(state)) {
  for (const at::Tensor& tensor : state_) place_of(tensor, storages_);
}

const State& HeldState::tensors() const {
  check_here();
  return state_;
}

void HeldState::check_here() const {
  if (!places_.empty()) throw DefectError("a block's input is used while it is away");
}

std::optional<std::size_t> HeldState::index_of(const c10::Storage& storage) const {
  check_here();
  for (std::size_t i = 0; i < storages_.size(); ++i)
    if (storages_[i].is_alias_of(storage)) return i;
  return {};
}

const c10::Storage& HeldState::storage(std::size_t index) const {
  check_here();
  return storages_[index];
}

std::vector<c10::Storage> HeldState::take() {
  for (const at::Tensor& tensor : tensors())
    places_.push_back({TensorRecipe(tensor), place_of(tensor, storages_)});
  state_.clear();
  for (const c10::Storage& storage : storages_) sizes_.push_back(size_of(storage));
  return std::exchange(storages_, {});
}

void HeldState::put(std::vector<c10::Storage> storages) {
  storages_ = std::move(storages);
  for (const Place& place : places_) state_.push_back(place.recipe.on(storages_[place.storage]));
  places_.clear();
  sizes_.clear();
}

Bytes storage_bytes(const State& state) {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : state)
    if (tensor.defined()) place_of(tensor, storages);
  Bytes bytes;
  for (const c10::Storage& storage : storages) bytes += size_of(storage);
  return bytes;
}

Bytes shared_bytes(const State& state, const State& other) {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : other)
    if (tensor.defined()) place_of(tensor, storages);
  State shared;
  for (const at::Tensor& tensor : state) {
    if (!tensor.defined()) continue;
    const std::size_t known = storages.size();
    if (place_of(tensor, storages) < known) shared.push_back(tensor);
    storages.resize(known);
  }
  return storage_bytes(shared);
}

}  // namespace stowage
