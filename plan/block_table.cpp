#include "plan/block_table.h"

#include <algorithm>

namespace stowage {

BlockTable::BlockTable(const Profile& profile)
    : profile_name(profile.name), digest(profile.digest()), fixed(profile.fixed) {
  std::uint32_t group = 0;
  for (std::uint32_t p = 0; p < profile.blocks.size(); ++p) {
    const BlockProfile& block = profile.blocks[p];
    const bool new_group =
        p > 0 && !profile.segments_cross_groups && block.group != profile.blocks[p - 1].group;
    if (new_group) ++group;
    BlockRow row{
        block.times.forward, block.times.backward, block.sizes, block.times.scope_forward, group, {}, {}};
    row.sizes.input_gradient = block.sizes.input_gradient.value_or(block.sizes.input);
    row.sizes.dropped_workspace = block.sizes.dropped_workspace.value_or(block.sizes.forward_workspace);
    for (Scope scope : {Scope::ffn, Scope::other}) {
      std::optional<Bytes>& input = row.sizes.scope_input[static_cast<std::size_t>(scope)];
      input = input.value_or(block.sizes.input);
    }
    row.storages.begin = static_cast<std::uint32_t>(storages.size());
    for (SavedStorage& storage : stowage::storages(block)) storages.push_back(std::move(storage));
    row.storages.end = static_cast<std::uint32_t>(storages.size());
    row.layers.begin = static_cast<std::uint32_t>(layers.size());
    layers.insert(layers.end(), block.layers.begin(), block.layers.end());
    row.layers.end = static_cast<std::uint32_t>(layers.size());
    rows.insert(rows.end(), static_cast<std::size_t>(block.count), row);
  }
  std::vector<Bytes> activations_of, gradients_of, handed_on, handed_on_gradient;
  for (std::uint32_t i = 0; i <= size(); ++i) {
    activations_of.push_back(activation(i));
    gradients_of.push_back(gradient(i));
    if (i == size()) break;
    handed_on.push_back(rows[i].sizes.handed_on);
    handed_on_gradient.push_back(i > 0 ? rows[i].sizes.handed_on_gradient : Bytes{});
  }
  activations = state_memory(activations_of, handed_on);
  gradients = state_memory_backwards(std::move(gradients_of), std::move(handed_on_gradient));
}

Bytes BlockTable::gradient(std::uint32_t i) const {
  if (i == size()) return fixed.output;
  return i > 0 ? *rows[i].sizes.input_gradient : Bytes{};
}

Bytes BlockTable::fresh_gradient(std::uint32_t i) const {
  return i > 0 ? gradient(i) - rows[i].sizes.handed_on_gradient : Bytes{};
}

Relief relief_of(const BlockTable& table, std::uint32_t block) {
  const BlockSizes& sizes = table.rows[block].sizes;
  const Bytes of_input_gradient = std::min(sizes.backward_relief, table.fresh_gradient(block));
  return {of_input_gradient, std::min(sizes.backward_relief - of_input_gradient, sizes.gradient)};
}

std::span<const SavedStorage> BlockTable::storages_of(std::uint32_t block) const {
  const Range range = rows[block].storages;
  return std::span(storages).subspan(range.begin, range.size());
}

std::span<const Layer> BlockTable::layers_of(std::uint32_t block) const {
  const Range range = rows[block].layers;
  return std::span(layers).subspan(range.begin, range.size());
}

std::uint32_t streamed_layers(const BlockTable& table, std::uint32_t block) {
  const std::span<const Layer> layers = table.layers_of(block);
  return static_cast<std::uint32_t>(
      std::count_if(layers.begin(), layers.end(), [](const Layer& layer) { return layer.weight > Bytes{}; }));
}

std::vector<Range> groups_of(const BlockTable& table) {
  std::vector<Range> groups;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if (i == 0 || table.rows[i].group != table.rows[i - 1].group) groups.push_back({i, i});
    groups.back().end = i + 1;
  }
  return groups;
}

}  // namespace stowage
