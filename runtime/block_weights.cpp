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

BlockWeights::BlockWeights(std::vector<at::Tensor> weights, const std::vector<LayerParameters>& layers,
                           Device& device)
    : weights_(std::move(weights)), device_(&device), parts_(layers.size() + 1) {
  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> offsets;
  for (const at::Tensor& weight : weights_) {
    part_of_weight_.push_back(part_of(weight, layers));
    Bytes& bytes = parts_[part_of_weight_.back()].bytes;
    offsets.push_back(bytes.value);
    bytes += Bytes{padded(weight)};
  }
  for (Part& part : parts_) part.storage = storage_on(device.memory().allocate(part.bytes), part.bytes);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    at::Tensor& weight = weights_[i];
    const at::Tensor place =
        TensorRecipe(weight, strides_of(weight), offsets[i]).on(parts_[part_of_weight_[i]].storage);
    place.copy_(weight);
    weight.set_data(place);
  }
}

std::size_t BlockWeights::part_of(const at::Tensor& weight,
                                  const std::vector<LayerParameters>& layers) const {
  const auto has = [&](const LayerParameters& layer) {
    return std::any_of(layer.weights.begin(), layer.weights.end(),
                       [&](const at::Tensor& other) { return other.is_same(weight); });
  };
  return std::find_if(layers.begin(), layers.end(), has) - layers.begin();
}

std::vector<BlockWeights::Part*> BlockWeights::parts(Layer layer) {
  std::vector<Part*> some;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].bytes > Bytes{} && (!layer || *layer == i)) some.push_back(&parts_[i]);
  return some;
}

std::vector<const BlockWeights::Part*> BlockWeights::parts(Layer layer) const {
  std::vector<const Part*> some;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].bytes > Bytes{} && (!layer || *layer == i)) some.push_back(&parts_[i]);
  return some;
}

Bytes BlockWeights::bytes(Layer layer) const {
  Bytes sum;
  for (const Part* part : parts(layer)) sum += part->bytes;
  return sum;
}

bool BlockWeights::resident(Layer layer) const {
  const std::vector<const Part*> all = parts(layer);
  return std::all_of(all.begin(), all.end(), [](const Part* part) { return part->resident; });
}

bool BlockWeights::trained() const {
  return std::any_of(weights_.begin(), weights_.end(), [](const at::Tensor& w) { return w.requires_grad(); });
}

bool BlockWeights::trains_layers() const {
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (weights_[i].requires_grad() && part_of_weight_[i] + 1 < parts_.size()) return true;
  return false;
}

BlockWeights::Layer BlockWeights::layer_of(const c10::StorageImpl* storage) const {
  for (std::uint32_t i = 0; i + 1 < parts_.size(); ++i)
    if (parts_[i].storage.unsafeGetStorageImpl() == storage) return i;
  return {};
}

void BlockWeights::move_to(WeightHome home) {
  if (home == home_) return;
  bring_back();
  if (home == WeightHome::device) return;
  give_place_on_host(home);
  home_ = home;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (!part.host) continue;
    device_->submit({Lane::d2h, {{part.host, part.storage.data(), part.bytes}}, {}})->finish();
    if (home == WeightHome::host_by_layer) take(static_cast<std::uint32_t>(i));
  }
  if (home == WeightHome::host) take();
}

void BlockWeights::bring_back() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.resident) continue;
    c10::Storage memory = storage_on(device_->memory().allocate(part.bytes), part.bytes);
    device_->submit({Lane::h2d, {{memory.mutable_data(), part.host, part.bytes}}, {}})->finish();
    exchange(part, std::move(memory));
  }
  for (Part& part : parts_) {
    part.own_host = {};
    part.host = nullptr;
  }
  host_ = {};
  home_ = WeightHome::device;
}

// Of one buffer, or of one for each layer.
void BlockWeights::give_place_on_host(WeightHome home) {
  if (home == WeightHome::host) {
    host_ = device_->host_memory().pin(bytes());
    std::byte* at = host_.data();
    for (Part* part : parts({})) {
      part->host = at;
      at += part->bytes.value;
    }
    return;
  }
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    if (parts_[i].bytes == Bytes{}) continue;
    parts_[i].own_host = device_->host_memory().pin(parts_[i].bytes);
    parts_[i].host = parts_[i].own_host.data();
  }
}

std::byte* BlockWeights::host(Layer layer) const {
  return parts(layer).front()->host;
}

std::vector<Bytes> BlockWeights::sizes(Layer layer) const {
  std::vector<Bytes> all;
  for (const Part* part : parts(layer)) all.push_back(part->bytes);
  return all;
}

std::vector<c10::Storage> BlockWeights::take(Layer layer) {
  std::vector<c10::Storage> taken;
  for (Part* part : parts(layer)) {
    part->resident = false;
    c10::StorageImpl& own = *part->storage.unsafeGetStorageImpl();
    c10::DataPtr memory = std::move(own._mutable_data_ptr_no_checks());
    own.set_data_ptr_noswap(c10::DataPtr(nullptr, memory.device()));
    taken.push_back(storage_on(std::move(memory), part->bytes));
  }
  return taken;
}

void BlockWeights::put(Layer layer, std::vector<c10::Storage> memory) {
  auto arrived = memory.begin();
  for (Part* part : parts(layer)) exchange(*part, std::move(*arrived++));
}

void BlockWeights::leave_device() {
  for (std::uint32_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].host && parts_[i].resident) take(i);
}

bool BlockWeights::drop_layer(Layer spared) {
  if (home_ != WeightHome::host_by_layer) return false;
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].host || !parts_[i].resident || spared == i) continue;
    take(i);
    return true;
  }
  return false;
}

void BlockWeights::exchange(Part& part, c10::Storage memory) {
  c10::StorageImpl& arrived = *memory.unsafeGetStorageImpl();
  part.storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(arrived._mutable_data_ptr_no_checks()));
  part.resident = true;
}

at::Tensor BlockWeights::where_it_lives(std::size_t index) const {
  const at::Tensor& weight = weights_[index];
  const Part& part = parts_[part_of_weight_[index]];
  if (part.resident) return weight.detach();
  return TensorRecipe(weight).on(
      storage_on(c10::DataPtr(part.host, c10::Device(c10::DeviceType::CPU)), part.bytes));
}

}  // namespace stowage
