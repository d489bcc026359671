#include "tests/runtime/small_transformer.h"

#include <ATen/ATen.h>

#include "runtime/models/transformer.h"

namespace stowage {
namespace {

// Which blocks are recomputed or offloaded, and how.
std::vector<Settings> activations_of_every_kind() {
  std::vector<Settings> all{settings_with(Policy::keep)};
  for (Policy policy : {Policy::recompute, Policy::offload, Policy::recompute_offload}) {
    for (std::int64_t interval : {1, 2, 3, 5}) all.push_back(settings_with(policy, interval));
    for (std::int64_t interval : {1, 2}) all.push_back(settings_with(policy, interval, 3));
    all.push_back(settings_with(policy, 2, {}, Segmenting::every_nth));
    all.push_back(settings_with(policy, 2, 3, Segmenting::every_nth));
  }
  for (Scope scope : {Scope::attention, Scope::ffn}) {
    all.push_back(settings_with(Policy::offload));
    all.back().scope = scope;
  }
  return all;
}

}  // namespace

MakeChain small_transformer(bool lora, c10::Device place) {
  TransformerConfig config;
  config.layers = small_blocks;
  config.width = 32;
  config.heads = 2;
  config.context = 16;
  config.batch = 2;
  config.ffn_multiple = 2;
  if (lora) config.lora = LoraConfig{4, 8};
  return [config, place] { return std::make_unique<Transformer>(config, 1, place); };
}

State small_batch(int step) {
  const at::Tensor text = (at::arange(34, at::kLong) * (step + 3)).remainder(256);
  return {text.narrow(0, 0, 32).view({2, 16}), text.narrow(0, 1, 32).view({2, 16})};
}

MakeBatch small_batches(c10::Device place) {
  return [place](int step) {
    State batch = small_batch(step);
    for (at::Tensor& tensor : batch) tensor = tensor.to(place);
    return batch;
  };
}

Profile small_profile(bool lora, Device& device, c10::Device place) {
  const auto chain = small_transformer(lora, place)();
  Executor executor(*chain, device);
  return size_up(executor, *chain, small_batches(place)(0), device.memory());
}

std::vector<Settings> settings_of_every_kind(const std::vector<SwapMode>& swap_modes) {
  std::vector<Settings> all;
  const std::vector<Settings> activations = activations_of_every_kind();
  for (std::size_t i = 0; i < activations.size(); ++i) {
    // Transfers go round beside, so that each kind of activation meets each distance sooner or later.
    const auto k = static_cast<std::int64_t>(i);
    Settings settings = activations[i];
    settings.transfer.prefetch = k % 4;
    settings.transfer.h2d_streams = 1 + k % 2;
    settings.transfer.d2h_streams = 1 + k / 2 % 2;
    all.push_back(settings);
    for (SwapMode mode : swap_modes) {
      settings.swap = {1 + k % 4, static_cast<SwapWhich>(k % 3), mode};
      settings.transfer.prefetch = (k + 1) % 4;
      all.push_back(settings);
    }
  }
  return all;
}

}  // namespace stowage
