#include "runtime/layer_loads.h"

#include <utility>

namespace stowage {

LayerLoads::~LayerLoads() {
  try {
    forget_ahead();
  } catch (const std::exception&) {  // of a step that was broken off
  }
}

LayerLoads::Load LayerLoads::begin(LayerId layer) {
  BlockWeights& weights = model_.weights(layer.block);
  Load load{layer, {}, {}};
  CopyJob job{Lane::h2d, {}, {}};
  std::byte* host = weights.host(layer.layer);
  for (Bytes bytes : weights.sizes(layer.layer)) {
    load.storages.emplace_back(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes.value),
                               device_.memory().allocate(bytes));
    job.pieces.push_back({load.storages.back().mutable_data(), host, bytes});
    host += bytes.value;
  }
  load.copy = device_.submit(std::move(job));
  return load;
}

void LayerLoads::bring(LayerId layer) {
  const bool hit = ahead_ && ahead_->layer == layer;
  hit ? ++counts_.hits : ++counts_.blocking;
  Load load = hit ? std::move(*ahead_) : begin(layer);
  if (hit) ahead_.reset();
  load.copy->wait();
  model_.weights(layer.block).put(layer.layer, std::move(load.storages));
  brought_ = layer;
}

void LayerLoads::fetch_ahead(LayerId layer) {
  if (ahead_) return;
  try {
    ahead_ = begin(layer);
    ++counts_.ahead;
  } catch (const MemoryRefused&) {
  }
}

void LayerLoads::drop() {
  if (!brought_) return;
  model_.weights(brought_->block).take(brought_->layer);
  brought_.reset();
}

bool LayerLoads::forget_ahead() {
  if (!ahead_) return false;
  const Load load = std::move(*ahead_);
  ahead_.reset();
  load.copy->finish();
  return true;
}

}  // namespace stowage
