// What the forward of a block, or of a part of it, saved, to hold a recomputation against.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

class SaveLedger {
 public:
  explicit SaveLedger(std::uint32_t block) : block_(block) {}

  // One more tensor is saved. `storage`: the caller's own note of where it belongs.
  void note(const at::Tensor& tensor, std::optional<std::uint32_t> storage = {});
  std::size_t size() const { return entries_.size(); }
  std::optional<std::uint32_t> storage(std::size_t index) const { return entries_[index].storage; }

  // Throws InputError, with block, index and both shapes and types, where a recomputation saves another
  // tensor at `index` than the forward did, or one too many.
  void check(std::size_t index, const at::Tensor& again) const;
  // Where it saved another number of tensors.
  void check_count(std::size_t again) const;

 private:
  struct Entry {
    at::DimVector sizes;
    caffe2::TypeMeta type;
    std::optional<std::uint32_t> storage;
  };
  [[noreturn]] void refuse(const std::string& reason) const;

  std::uint32_t block_;
  std::vector<Entry> entries_;
};

}  // namespace stowage
