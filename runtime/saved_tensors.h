// The tensors that one pass through a block leaves for its backward, by storage.
//
// Autograd saves tensors; several of them may be views of one storage, and one may be saved many times. What
// is kept, sent away and brought back is the storage, once. It counts where it was first saved: that order is
// the order of storages() in the block's profile. Not counted, and never moved: storages of the chain's
// parameters, and those of the block's input, which the executor holds itself.
//
// A tensor comes back with its own sizes, strides and offset. One that was changed in place meanwhile is
// refused when it is used.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/chain.h"
#include "runtime/saving.h"
#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

using StorageKey = const c10::StorageImpl*;

// One tensor that autograd saved, while it is being saved.
struct SaveEvent {
  std::uint32_t block;
  std::uint32_t storage;  // index into the block's storages()
  const at::Tensor& tensor;
  Scope scope;  // of the code that is running
};

class SaveListener {
 public:
  virtual ~SaveListener() = default;
  virtual void on_save(const SaveEvent& event) = 0;
};

class SavedTensors final : public SaveHandler, public std::enable_shared_from_this<SavedTensors> {
 public:
  // `parameters` and `listener` (which may be null) must outlive the pass.
  SavedTensors(std::uint32_t block, const std::unordered_set<StorageKey>& parameters, const State& input,
               SaveListener* listener);

  std::uint32_t size() const { return static_cast<std::uint32_t>(storages_.size()); }
  Bytes bytes(std::uint32_t index) const { return bytes_[index]; }
  // Hands the storage over; until it is put back, whoever needs it gets a DefectError.
  c10::Storage take(std::uint32_t index);
  void put(std::uint32_t index, c10::Storage storage);

  std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() override;

 private:
  class Hooks;
  bool counts(const at::Tensor& tensor) const;
  std::uint32_t index_of(const c10::Storage& storage);
  const c10::Storage& storage(std::uint32_t index) const;

  const std::uint32_t block_;
  const std::unordered_set<StorageKey>& parameters_;
  std::vector<StorageKey> input_;
  SaveListener* const listener_;
  std::vector<c10::Storage> storages_;
  std::vector<Bytes> bytes_;
  std::unordered_map<StorageKey, std::uint32_t> index_;  // valid while nothing was taken
};

}  // namespace stowage
