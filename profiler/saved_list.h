// Lists the tensors that autograd saves in each block, as a profile names them.
#pragma once

#include <vector>

#include "runtime/saved_tensors.h"
#include "traces/profile.h"

namespace stowage {

// Every save in order, "attention.0", "attention.1", ..., each with the bytes of its whole storage; tensors
// that share a storage name it. Listens to one step.
class SavedList final : public SaveListener {
 public:
  explicit SavedList(std::size_t blocks) : blocks_(blocks) {}

  void on_save(const SaveEvent& event) override;
  std::vector<SavedTensor> block(std::size_t index) const;

 private:
  struct Entry {
    SavedTensor tensor;
    std::uint32_t storage;
  };
  std::vector<std::vector<Entry>> blocks_;
};

}  // namespace stowage
