// A state between two blocks, which may be away for a while.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/chain.h"
#include "runtime/tensor_recipe.h"
#include "traces/units.h"

namespace stowage {

class HeldState {
 public:
  HeldState() = default;
  explicit HeldState(State state);

  // Throws DefectError while the state is away.
  const State& tensors() const;
  // Its storages, each once, in the order of the first tensor on it: the same while it is away and after.
  // Throw DefectError while the state is away.
  std::optional<std::size_t> index_of(const c10::Storage& storage) const;
  const c10::Storage& storage(std::size_t index) const;

  // Hands over the memory of all tensors, each storage once; how the tensors lie in it is remembered.
  std::vector<c10::Storage> take();
  // The sizes of the storages that were taken, in their order.
  const std::vector<Bytes>& sizes() const { return sizes_; }
  void put(std::vector<c10::Storage> storages);

 private:
  struct Place {
    TensorRecipe recipe;
    std::size_t storage;
  };

  void check_here() const;

  State state_;
  std::vector<c10::Storage> storages_;  // of its tensors
  std::vector<Place> places_;           // while it is away
  std::vector<Bytes> sizes_;
};

// Bytes of the storages that a state's tensors live in, each once: `input_bytes` of the block it enters.
Bytes storage_bytes(const State& state);
// Of those, the ones that another state's tensors live in, too.
Bytes shared_bytes(const State& state, const State& other);

}  // namespace stowage
