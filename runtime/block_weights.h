// The weights of one block, on the device or on the host: a storage for each of its layers, and one for what
// no layer has.
//
// All tensors of `BlockParameters::weights` become views of these, each padded to 64 bytes, so that a swap is
// one copy of few pieces. Residency is which memory a storage owns: it is exchanged underneath the tensors,
// so views that autograd saved follow.
//
// Copies name a layer, or, absent, all weights of the block.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/chain.h"
#include "runtime/device.h"
#include "runtime/pinned_pool.h"

namespace stowage {

// Where weights are between steps.
enum class WeightHome : std::uint8_t {
  device,
  host,
  host_by_layer,  // what no layer has is on the device
};

class BlockWeights {
 public:
  using Layer = std::optional<std::uint32_t>;

  BlockWeights(std::vector<at::Tensor> weights, const std::vector<LayerParameters>& layers, Device& device);
  BlockWeights(BlockWeights&&) = default;

  Bytes bytes(Layer layer = {}) const;
  bool resident(Layer layer = {}) const;
  bool trained() const;
  // Trained weights in a layer: they could not be dropped after use.
  bool trains_layers() const;
  // Whose storage this is; absent: no layer's of this block.
  Layer layer_of(const c10::StorageImpl* storage) const;

  WeightHome home() const { return home_; }
  // Between steps: moves them, and waits. Throws MemoryRefused.
  void move_to(WeightHome home);

  // The copy on the host, one piece after the other; only where its home is there.
  std::byte* host(Layer layer) const;
  std::vector<Bytes> sizes(Layer layer) const;
  // Hands the device's memory over. The tensors must not be touched until put().
  std::vector<c10::Storage> take(Layer layer = {});
  void put(Layer layer, std::vector<c10::Storage> memory);
  // Frees what is on the device and has its home on the host.
  void leave_device();
  // Of the first layer that can go, where layers have their homes there; false where none can.
  bool drop_layer(Layer spared);
  // One tensor where it lives: itself, or as the host has it.
  at::Tensor where_it_lives(std::size_t index) const;

 private:
  struct Part {
    c10::Storage storage;
    Bytes bytes;
    bool resident = true;
    HostBuffer own_host;        // where the home is by layer
    std::byte* host = nullptr;  // its place on the host
  };

  // Those with memory.
  std::vector<Part*> parts(Layer layer);
  std::vector<const Part*> parts(Layer layer) const;
  std::size_t part_of(const at::Tensor& weight, const std::vector<LayerParameters>& layers) const;
  static void exchange(Part& part, c10::Storage memory);
  void bring_back();
  void give_place_on_host(WeightHome home);

  std::vector<at::Tensor> weights_;
  std::vector<std::size_t> part_of_weight_;
  Device* device_;
  std::vector<Part> parts_;  // by layer; the last one is what no layer has
  WeightHome home_ = WeightHome::device;
  HostBuffer host_;
};

}  // namespace stowage
