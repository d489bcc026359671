#include "runtime/tensor_recipe.h"

#include <ATen/ATen.h>

namespace stowage {

TensorRecipe::TensorRecipe(const at::Tensor& tensor)
    : sizes_(tensor.sizes()),
      strides_(tensor.strides()),
      offset_(tensor.storage_offset()),
      keys_(tensor.key_set()),
      type_(tensor.dtype()) {}

TensorRecipe::TensorRecipe(const at::Tensor& tensor, at::IntArrayRef strides, std::int64_t byte_offset)
    : TensorRecipe(tensor) {
  strides_ = at::DimVector(strides);
  offset_ = byte_offset / static_cast<std::int64_t>(type_.itemsize());
}

at::Tensor TensorRecipe::on(const c10::Storage& storage) const {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys_, type_);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_, strides_, offset_);
  return tensor;
}

}  // namespace stowage
