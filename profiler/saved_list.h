// Lists the tensors that autograd saves in each block, as a profile names them.
#pragma once

#include <array>
#include <vector>

#include "runtime/saved_tensors.h"
#include "traces/profile.h"

namespace stowage {

// A copy of less takes longer than it is worth: only its latency counts.
inline constexpr Bytes small_saved{1024};

// Every save in order, "attention.0", "attention.1", ..., each with the bytes of its whole storage; tensors
// that share a storage name it. Integers (indices, codes) and storages below `small` are said to stay.
// Listens to one step.
class SavedList final : public SaveListener {
 public:
  explicit SavedList(std::size_t blocks, Bytes small = small_saved)
      : small_(small), blocks_(blocks), starts_(blocks), parts_(blocks), gradients_(blocks) {}

  void on_save(const SaveEvent& event) override;
  void on_start(const StartEvent& event) override;
  void on_gradient(const GradientEvent& event) override { gradients_.at(event.block) = event; }
  std::vector<SavedTensor> block(std::size_t index) const;
  // What parts of the block start from beside its input and what is saved anyway, as BlockSizes::scope_input
  // has it.
  const ByScope<Bytes>& starts(std::size_t index) const { return starts_.at(index); }
  // Of the block's input; none of the first block's.
  const GradientEvent& gradient(std::size_t index) const { return gradients_.at(index); }
  // Whether the block runs parts of this scope that could run again.
  bool has_parts(std::size_t index, Scope scope) const {
    return parts_.at(index)[static_cast<std::size_t>(scope)];
  }

 private:
  struct Entry {
    SavedTensor tensor;
    std::uint32_t storage;
  };
  const Bytes small_;
  std::vector<std::vector<Entry>> blocks_;
  std::vector<ByScope<Bytes>> starts_;
  std::vector<std::array<bool, scope_count>> parts_;
  std::vector<GradientEvent> gradients_;
};

}  // namespace stowage
