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
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/held_state.h"
#include "runtime/save_ledger.h"
#include "runtime/saving.h"
#include "runtime/tensor_recipe.h"
#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

using StorageKey = const c10::StorageImpl*;

// One tensor that autograd saved, while it is being saved.
struct SaveEvent {
  std::uint32_t block;
  std::uint32_t storage;  // index into the block's storages()
  const at::Tensor& tensor;
  Scope scope;  // of the code that is running; `other` for what a part of the block starts from
};

// A part of a block, and the bytes that it starts from and nothing saves: they stay only where the part is
// run again. Absent where it starts from the block's input alone.
struct StartEvent {
  std::uint32_t block;
  Scope scope;
  std::optional<Bytes> bytes;
};

// The gradient that a block's backward made of its input: its bytes, and how many of them are memory of the
// gradient that came in.
struct GradientEvent {
  std::uint32_t block;
  Bytes bytes, handed_on;
};

class SaveListener {
 public:
  virtual ~SaveListener() = default;
  virtual void on_save(const SaveEvent& event) = 0;
  // Of each part, when the forward is over.
  virtual void on_start(const StartEvent&) {}
  virtual void on_gradient(const GradientEvent&) {}
};

// Where the tensor of one save is to be found, though its storage may have been away meanwhile.
struct SavedPlace {
  std::optional<std::size_t> input;      // among the storages of the block's input
  std::optional<std::uint32_t> storage;  // among those that count
  std::optional<TensorRecipe> recipe;    // of either
  at::Tensor held;                       // where it is in none of them
};

class SavedTensors final : public SaveHandler, public std::enable_shared_from_this<SavedTensors> {
 public:
  // All must outlive the pass; `listener` may be null.
  SavedTensors(std::uint32_t block, const std::unordered_set<StorageKey>& parameters, const HeldState& input,
               SaveListener* listener);

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  Bytes bytes(std::uint32_t index) const { return entries_[index].bytes; }
  // Hands the storage over; until it is put back, whoever needs it gets a DefectError.
  c10::Storage take(std::uint32_t index);
  void put(std::uint32_t index, c10::Storage storage);
  bool is_here(std::uint32_t index) const { return static_cast<bool>(entries_[index].storage); }

  // The backward begins: from now on a storage goes as soon as autograd has let go of the last tensor on it.
  void consume() { consuming_ = true; }

  // A part of the block starts from this storage: it stays, and belongs to no scope.
  void starts_from(const c10::Storage& storage) { starts_.insert(storage.unsafeGetStorageImpl()); }
  // While `ledger` is given, storages that are saved for the first time are let go at once, and each save is
  // noted there with its index.
  void drop_into(SaveLedger* ledger) { dropping_ = ledger; }
  // While `ledger` is given, each save is held against it.
  void expect(const SaveLedger* ledger) { expected_ = ledger; }

  std::size_t saves() const { return saves_; }  // so far
  bool is_parameter(const at::Tensor& tensor) const;

  // Where `tensor` is now; `saves` counts its storage, if it was not counted yet.
  SavedPlace place_of(const at::Tensor& tensor, bool saves);
  at::Tensor tensor_at(const SavedPlace& place) const;

  std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() override;

 private:
  class Hooks;
  // The identity outlives the memory, so that no other storage is taken for this one.
  struct Entry {
    c10::Storage storage;  // empty while it is away, or dropped
    c10::weak_intrusive_ptr<c10::StorageImpl> identity;
    Bytes bytes;
    std::uint32_t users = 0;  // saves that autograd holds
  };
  void let_go(std::uint32_t index);
  std::optional<std::uint32_t> index_of(const c10::Storage& storage, bool saves);
  void note(const at::Tensor& tensor, const SavedPlace& place);

  const std::uint32_t block_;
  const std::unordered_set<StorageKey>& parameters_;
  const HeldState& input_;
  SaveListener* const listener_;
  SaveLedger* dropping_ = nullptr;
  const SaveLedger* expected_ = nullptr;
  std::size_t saves_ = 0;
  bool consuming_ = false;
  std::vector<Entry> entries_;
  std::unordered_map<StorageKey, std::uint32_t> index_;
  std::unordered_set<StorageKey> starts_;
};

}  // namespace stowage
