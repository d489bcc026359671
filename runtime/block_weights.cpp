#include "runtime/block_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "runtime/tensor_recipe.h"

namespace stowage {
namespace {

// Kernels see the same alignment as in memory of their own.
constexpr std::int64_t alignment = 64;

std::int64_t padded(const at::Tensor& tensor) {
  return (static_cast<std::int64_t>(tensor.nbytes()) + alignment - 1) / alignment * alignment;
}

// As the tensor has them where it fills its memory, else those of a row after row.
at::DimVector strides_of(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return at::DimVector(tensor.strides());
  at::DimVector strides(tensor.dim(), 1);
  for (std::int64_t d = tensor.dim() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * std::max<std::int64_t>(tensor.size(d), 1);
  return strides;
}

c10::Storage storage_on(c10::DataPtr memory, Bytes bytes) {
  return {c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes.value), std::move(memory)};
}

}  // namespace

BlockWeights::BlockWeights(std::vector<at::Tensor> weights, Device& device)
    : weights_(std::move(weights)), device_(&device) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& weight : weights_) bytes_ += Bytes{padded(weight)};
  storage_ = storage_on(device.memory().allocate(bytes_), bytes_);
  std::int64_t offset = 0;
  for (at::Tensor& weight : weights_) {
    const at::Tensor place = TensorRecipe(weight, strides_of(weight), offset).on(storage_);
    place.copy_(weight);
    offset += padded(weight);
    weight.set_data(place);
  }
}

bool BlockWeights::trained() const {
  return std::any_of(weights_.begin(), weights_.end(), [](const at::Tensor& w) { return w.requires_grad(); });
}

void BlockWeights::move_to_host() {
  if (!resident_) return;
  if (host_.bytes() != bytes_) host_ = device_->host_memory().pin(bytes_);
  device_->submit({Lane::d2h, {{host_.data(), storage_.data(), bytes_}}, {}})->finish();
  take();
}

void BlockWeights::move_to_device() {
  if (resident_) return;
  c10::Storage memory = storage_on(device_->memory().allocate(bytes_), bytes_);
  device_->submit({Lane::h2d, {{memory.mutable_data(), host_.data(), bytes_}}, {}})->finish();
  put(std::move(memory));
  host_ = {};
}

c10::Storage BlockWeights::take() {
  resident_ = false;
  c10::StorageImpl& own = *storage_.unsafeGetStorageImpl();
  c10::DataPtr memory = std::move(own._mutable_data_ptr_no_checks());
  own.set_data_ptr_noswap(c10::DataPtr(nullptr, memory.device()));
  return storage_on(std::move(memory), bytes_);
}

void BlockWeights::put(c10::Storage memory) {
  c10::StorageImpl& arrived = *memory.unsafeGetStorageImpl();
  storage_.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(arrived._mutable_data_ptr_no_checks()));
  resident_ = true;
}

at::Tensor BlockWeights::where_it_lives(std::size_t index) const {
  const at::Tensor& weight = weights_[index];
  if (resident_) return weight.detach();
  return TensorRecipe(weight).on(
      storage_on(c10::DataPtr(host_.data(), c10::Device(c10::DeviceType::CPU)), bytes_));
}

}  // namespace stowage
