// Tells which layer of a block is running, so that the weights of each can come by themselves.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace stowage {

// From now on, and until the next one begins, this thread runs layer `layer` of BlockParameters::layers. Its
// weights may be on the device for as long, and no longer. Throws what loading them throws.
void begin_layer(std::uint32_t layer);

// Told when a layer begins, when autograd saves a parameter, which is before it is used, and when a backward
// is about to use it; that may be on a thread of autograd's. nullptr: nobody. Returns the one before.
class LayerListener {
 public:
  virtual ~LayerListener() = default;
  virtual void on_layer(std::uint32_t layer) = 0;
  virtual void on_save(const at::Tensor& parameter) = 0;
  virtual void on_use(const at::Tensor& parameter) = 0;
};
LayerListener* listen_to_layers(LayerListener* listener);
LayerListener* layer_listener();

}  // namespace stowage
