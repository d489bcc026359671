#include "runtime/layer.h"

#include <utility>

namespace stowage {
namespace {

thread_local LayerListener* layers_heard_by = nullptr;

}  // namespace

void begin_layer(std::uint32_t layer) {
  if (layers_heard_by) layers_heard_by->on_layer(layer);
}

LayerListener* listen_to_layers(LayerListener* listener) {
  return std::exchange(layers_heard_by, listener);
}

LayerListener* layer_listener() {
  return layers_heard_by;
}

}  // namespace stowage
