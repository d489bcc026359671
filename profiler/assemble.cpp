#include "profiler/assemble.h"

#include <algorithm>

#include "profiler/sample.h"
#include "traces/error.h"

namespace stowage {
namespace {

Bytes at_least_none(Bytes bytes) {
  return std::max(bytes, Bytes{});
}

Nanos median_or_none(const std::vector<Nanos>& repeats) {
  return repeats.empty() ? Nanos{} : spread_of(repeats).median;
}

// Medians of parts may add up to more than the median of the whole.
void cut_to(Nanos whole, std::vector<Layer>& layers, Nanos Layer::*time, std::optional<Scope> scope = {}) {
  Nanos sum;
  for (const Layer& layer : layers)
    if (!scope || layer.scope == *scope) sum += layer.*time;
  if (sum <= whole) return;
  const double share = static_cast<double>(whole.value) / static_cast<double>(sum.value);
  for (Layer& layer : layers)
    if (!scope || layer.scope == *scope)
      (layer.*time).value = static_cast<std::int64_t>(share * static_cast<double>((layer.*time).value));
}

class Assembly {
 public:
  Assembly(const Inventory& inventory, const ChainReadings& readings)
      : inventory_(inventory), readings_(readings) {
    if (inventory.blocks.empty() || inventory.blocks.size() != readings.blocks.size())
      throw DefectError("readings are not of the blocks of the inventory");
  }

  Assembled run() {
    result_.profile.name = inventory_.name;
    result_.profile.fixed = fixed();
    for (std::size_t i = 0; i < inventory_.blocks.size(); ++i) result_.profile.blocks.push_back(block(i));
    return std::move(result_);
  }

 private:
  Bytes activation(std::size_t i) const {
    return i < inventory_.blocks.size() ? inventory_.blocks[i].input : inventory_.output;
  }
  // What of X_{i+1} block i makes, and what of the gradient of X_i its backward makes.
  Bytes fresh_output(std::size_t i) const { return activation(i + 1) - inventory_.blocks[i].handed_on; }
  Bytes fresh_gradient(std::size_t i) const {
    return i > 0 ? gradient(i) - inventory_.blocks[i].handed_on_gradient : Bytes{};
  }
  // Of X_i.
  Bytes gradient(std::size_t i) const {
    if (i == inventory_.blocks.size()) return inventory_.output;
    return inventory_.blocks[i].input_gradient.value_or(inventory_.blocks[i].input);
  }

  FixedCosts fixed() const {
    FixedCosts fixed;
    fixed.optimizer_state = inventory_.optimizer_state;
    fixed.output = inventory_.output;
    fixed.resident = readings_.blocks.front().forward.before - activation(0) - inventory_.optimizer_state;
    for (const BlockInventory& block : inventory_.blocks) fixed.resident -= block.weight;
    fixed.epilogue_bytes = at_least_none(readings_.epilogue.rise() - inventory_.output);
    fixed.prologue = spread_of(readings_.prologue.times).median;
    fixed.epilogue = spread_of(readings_.epilogue.times).median;
    fixed.optimizer = spread_of(readings_.optimizer.times).median;
    return fixed;
  }

  BlockProfile block(std::size_t i) {
    const BlockInventory& stock = inventory_.blocks[i];
    BlockProfile block;
    block.name = stock.name;
    if (!stock.group.empty()) block.group = stock.group;
    block.saved = stock.saved;
    block.times = times(readings_.blocks[i]);
    block.sizes = sizes(i, saved_bytes(block));
    block.layers = layers(i, block.times);
    compare(i, block);
    return block;
  }

  static BlockTimes times(const BlockReadings& read) {
    const Spread forward = spread_of(read.forward.times), backward = spread_of(read.backward.times);
    BlockTimes times{forward.median, backward.median, forward.half_range, backward.half_range, {}};
    for (std::size_t scope = 0; scope < scope_count; ++scope)
      if (!read.scope_forward[scope].empty())
        times.scope_forward[scope] = spread_of(read.scope_forward[scope]).median;
    return times;
  }

  std::vector<Layer> layers(std::size_t i, const BlockTimes& times) const {
    const std::vector<LayerReadings>& read = readings_.blocks[i].layers;
    std::vector<Layer> layers;
    for (std::size_t k = 0; k < read.size(); ++k) {
      const LayerInventory& stock = inventory_.blocks[i].layers.at(k);
      layers.push_back({stock.name, stock.scope, stock.weight, median_or_none(read[k].forward),
                        median_or_none(read[k].backward), workspace(i, read[k])});
    }
    for (std::size_t scope = 0; scope < scope_count; ++scope)
      if (const std::optional<Nanos>& whole = times.scope_forward[scope])
        cut_to(*whole, layers, &Layer::forward, static_cast<Scope>(scope));
    cut_to(times.forward, layers, &Layer::forward);
    cut_to(times.backward, layers, &Layer::backward);
    return layers;
  }

  // In whichever pass it is the most; absent where none was read.
  std::optional<Bytes> workspace(std::size_t i, const LayerReadings& read) const {
    if (std::max({read.forward_rise, read.dropped_rise, read.backward_rise}) == Bytes{}) return {};
    BlockProfile block;
    block.saved = inventory_.blocks[i].saved;
    return at_least_none(std::max({read.forward_rise - fresh_output(i) - saved_bytes(block),
                                   read.dropped_rise - fresh_output(i), read.backward_rise - made(i)}));
  }
  // By a backward, that stays.
  Bytes made(std::size_t i) const { return inventory_.blocks[i].gradient + fresh_gradient(i); }

  BlockSizes sizes(std::size_t i, Bytes saved) const {
    const BlockInventory& stock = inventory_.blocks[i];
    const BlockReadings& read = readings_.blocks[i];
    BlockSizes sizes{stock.input, stock.weight, stock.gradient, {}, {}, {}, stock.scope_input};
    for (int scope = 0; scope < scope_count; ++scope) size_scope(i, static_cast<Scope>(scope), sizes);
    sizes.forward_workspace = at_least_none(read.forward.rise() - fresh_output(i) - saved);
    sizes.dropped_workspace = at_least_none(read.dropped_rise - fresh_output(i));
    sizes.backward_workspace = at_least_none(read.backward.rise() - made(i));
    sizes.backward_relief = at_least_none(made(i) - read.backward.rise());
    sizes.handed_on = stock.handed_on;
    if (i > 0 && gradient(i) != stock.input) sizes.input_gradient = gradient(i);
    if (i > 0) sizes.handed_on_gradient = stock.handed_on_gradient;
    if (!read.layers.empty()) sizes.rest_workspace = workspace(i, read.rest);
    return sizes;
  }

  // The tensors of the other scopes stay, and what the scope starts from.
  void size_scope(std::size_t i, Scope scope, BlockSizes& sizes) const {
    const auto index = static_cast<std::size_t>(scope);
    const BlockReadings& read = readings_.blocks[i];
    if (!read.scope_dropped_rise[index] || !read.scope_rise[index]) return;
    BlockProfile block;
    block.saved = inventory_.blocks[i].saved;
    Bytes again, stays = sizes.scope_input[index].value_or(Bytes{});
    for (const SavedStorage& storage : storages(block))
      (storage.scope == scope ? again : stays) += storage.bytes;
    sizes.scope_dropped_workspace[index] =
        at_least_none(*read.scope_dropped_rise[index] - fresh_output(i) - stays);
    sizes.scope_workspace[index] = at_least_none(*read.scope_rise[index] - again);
  }

  // What the model says of a step's end, against what was read there.
  void compare(std::size_t i, const BlockProfile& block) {
    const BlockReadings& read = readings_.blocks[i];
    const Bytes saved = saved_bytes(block);
    const Bytes kept = read.forward.after - read.forward.before - fresh_output(i) - saved;
    const Bytes input = i > 0 ? fresh_output(i - 1) : activation(0);  // what comes from before stays there
    const Bytes left = read.backward.after - read.backward.before - made(i) + saved + input +
                       gradient(i + 1) - (i > 0 ? inventory_.blocks[i].handed_on_gradient : Bytes{});
    warn(block.name, kept, " that autograd did not report");
    warn(block.name, left, " beyond its backward");
  }

  void warn(const std::string& block, Bytes extra, const std::string& what) {
    if (extra == Bytes{}) return;
    result_.warnings.push_back(block + " keeps " + std::to_string(extra.value) + " bytes" + what);
  }

  const Inventory& inventory_;
  const ChainReadings& readings_;
  Assembled result_;
};

}  // namespace

Assembled assemble(const Inventory& inventory, const ChainReadings& readings) {
  return Assembly(inventory, readings).run();
}

}  // namespace stowage
