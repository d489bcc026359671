// How to make a tensor again from the storage it lay in.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/TensorBody.h>

namespace stowage {

// Sizes, strides, offset and type of a plain strided tensor, without its storage.
class TensorRecipe {
 public:
  explicit TensorRecipe(const at::Tensor& tensor);
  // A tensor of sizes and strides of its own, at a byte offset that its type divides.
  TensorRecipe(const at::Tensor& tensor, at::IntArrayRef strides, std::int64_t byte_offset);

  // Not a variable of any graph. Cost: one small allocation.
  at::Tensor on(const c10::Storage& storage) const;

 private:
  at::DimVector sizes_, strides_;
  std::int64_t offset_;
  c10::DispatchKeySet keys_;  // with those of lazy conjugation and negation
  caffe2::TypeMeta type_;
};

}  // namespace stowage
