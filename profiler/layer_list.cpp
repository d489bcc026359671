#include "profiler/layer_list.h"

namespace stowage {

std::vector<LayerInventory> list_layers(const ChainBlock& block, std::uint32_t index, Executor& executor) {
  std::vector<LayerInventory> list;
  for (const LayerParameters& layer : block.parameters().layers)
    list.push_back(
        {layer.name, layer.scope, executor.layer_bytes(index, static_cast<std::uint32_t>(list.size()))});
  return list;
}

}  // namespace stowage
