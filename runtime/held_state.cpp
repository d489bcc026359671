#include "runtime/held_state.h"

#include <algorithm>

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

const State& HeldState::tensors() const {
  if (!places_.empty()) throw DefectError("a block's input is used while it is away");
  return state_;
}

std::optional<std::size_t> HeldState::index_of(const c10::Storage& storage) const {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : tensors()) {
    const std::size_t index = place_of(tensor, storages);
    if (storages[index].is_alias_of(storage)) return index;
  }
  return {};
}

c10::Storage HeldState::storage(std::size_t index) const {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : tensors()) place_of(tensor, storages);
  return storages[index];
}

std::vector<c10::Storage> HeldState::take() {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : tensors())
    places_.push_back({TensorRecipe(tensor), place_of(tensor, storages)});
  state_.clear();
  for (const c10::Storage& storage : storages) sizes_.push_back(size_of(storage));
  return storages;
}

void HeldState::put(const std::vector<c10::Storage>& storages) {
  for (const Place& place : places_) state_.push_back(place.recipe.on(storages[place.storage]));
  places_.clear();
  sizes_.clear();
}

Bytes storage_bytes(const State& state) {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : state) place_of(tensor, storages);
  Bytes bytes;
  for (const c10::Storage& storage : storages) bytes += size_of(storage);
  return bytes;
}

}  // namespace stowage
