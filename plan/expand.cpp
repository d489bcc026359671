#include <algorithm>

#include "plan/names.h"
#include "plan/plan.h"
#include "traces/error.h"

namespace stowage {
namespace {

// Half-open runs of blocks that the settings choose, each a segment.
std::vector<Range> segments_in(Range group, const Settings& settings) {
  const bool every_nth = settings.segmenting == Segmenting::every_nth;
  const std::int64_t size = group.end - group.begin;
  const bool one_in_interval = every_nth && !settings.stride;
  const std::int64_t chosen = one_in_interval ? 1 : settings.interval;
  const std::int64_t period = settings.stride.value_or(settings.interval);
  std::vector<Range> segments;
  for (std::int64_t start = 0; start < size;) {
    const std::int64_t end = std::min(size, start + std::min(chosen, size));
    const std::int64_t length = every_nth ? 1 : end - start;
    for (std::int64_t i = start; i < end; i += length) {
      const auto begin = static_cast<std::uint32_t>(group.begin + i);
      segments.push_back({begin, begin + static_cast<std::uint32_t>(length)});
    }
    if (period >= size) break;
    start += period;
  }
  return segments;
}

std::vector<std::uint32_t> offloaded(std::span<const SavedStorage> storages,
                                     const std::optional<Scope>& scope) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < storages.size(); ++i)
    if (!storages[i].stays && (!scope || storages[i].scope == *scope)) chosen.push_back(i);
  return chosen;
}

void decide_activations(Plan& plan, const BlockTable& table, const Settings& settings) {
  if (settings.policy == Policy::keep) return;
  std::uint32_t number = 0;
  for (Range group : groups_of(table)) {
    for (Range segment : segments_in(group, settings)) {
      for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
        BlockDecision& decision = plan.blocks[i];
        if (settings.policy == Policy::offload) {
          decision.offload = offloaded(table.storages_of(i), settings.scope);
          continue;
        }
        decision.activation = Activation::recompute;
        decision.scope = settings.scope;
        if (!settings.scope) decision.segment = number;
        const bool starts = settings.scope || i == segment.begin;
        decision.offload_input = settings.policy == Policy::recompute_offload && starts;
      }
      ++number;
    }
  }
}

// Of whole blocks one stays: swapping it, too, would only add to what the others need. Layers may all stream.
std::int64_t swap_count(Expansion& expansion, const SwapSettings& swap) {
  const auto n = static_cast<std::int64_t>(expansion.plan.blocks.size());
  const std::int64_t most = swap.mode == SwapMode::stream ? n : n - 1;
  if (swap.blocks <= most) return swap.blocks;
  expansion.warnings.push_back("swap_blocks " + std::to_string(swap.blocks) + " is more than " +
                               std::to_string(n) + " blocks allow; " + std::to_string(most) + " is used");
  return most;
}

// The last layers of all that stream, up to the first that is one too many or finds no room.
void keep_layers(Expansion& expansion, const BlockTable& table, const SwapSettings& swap) {
  std::int64_t left = swap.keep;
  Bytes taken;
  for (std::uint32_t i = table.size(); i-- > 0;) {
    BlockDecision& decision = expansion.plan.blocks[i];
    const std::span<const Layer> layers = table.layers_of(i);
    for (std::size_t layer = layers.size(); layer-- > 0;) {
      if (decision.weights != Residence::stream || layers[layer].weight == Bytes{}) continue;
      taken += layers[layer].weight;
      if (left-- == 0 || (swap.keep_max && taken > *swap.keep_max)) return;
      ++decision.kept_layers;
    }
  }
}

void decide_weights(Expansion& expansion, const BlockTable& table, const SwapSettings& swap) {
  static constexpr Residence residences[] = {Residence::h2d, Residence::two_way, Residence::stream};
  Plan& plan = expansion.plan;
  const auto n = static_cast<std::int64_t>(plan.blocks.size());
  const std::int64_t count = swap_count(expansion, swap);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t block = i;
    if (swap.which == SwapWhich::last) block = n - count + i;
    if (swap.which == SwapWhich::spread) block = i * n / count;
    plan.blocks[block].weights = residences[static_cast<std::size_t>(swap.mode)];
    if (swap.mode == SwapMode::stream && streamed_layers(table, static_cast<std::uint32_t>(block)) == 0)
      throw InputError(
          "", "swap_mode",
          "the profile lists no layers of block " + std::to_string(block) + " whose weights could stream");
  }
  keep_layers(expansion, table, swap);
}

void warn_of_no_effect(Expansion& expansion, const BlockTable& table, const Settings& settings) {
  const auto warn = [&](const std::string& text) { expansion.warnings.push_back(text); };
  if (settings.swap.keep > 0 && (settings.swap.mode != SwapMode::stream || settings.swap.blocks == 0))
    warn("swap_keep has no effect: no layers stream");
  const bool offloads = settings.policy == Policy::offload || settings.policy == Policy::recompute_offload;
  if (settings.transfer.disk_over && !offloads)
    warn("disk_over_bytes has no effect: no activations are offloaded");
  if (settings.policy == Policy::keep) {
    if (settings.scope) warn("scope has no effect with policy keep");
    if (settings.interval != 1 || settings.stride)
      warn("interval and stride have no effect with policy keep");
    return;
  }
  if (!settings.scope) return;
  const bool any = std::any_of(table.storages.begin(), table.storages.end(),
                               [&](const SavedStorage& storage) { return storage.scope == *settings.scope; });
  if (any) return;
  const std::string policy(name_in(policy_names, settings.policy));
  warn("policy " + policy + " frees nothing: no saved tensor has scope " +
       std::string(name_in(scope_names, *settings.scope)));
}

// A setting that asks for what the profile does not know.
void check_scope_is_timed(const BlockTable& table, const Settings& settings) {
  const bool recomputes =
      settings.policy == Policy::recompute || settings.policy == Policy::recompute_offload;
  if (!recomputes || !settings.scope) return;
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (!table.rows[i].scope_forward[static_cast<std::size_t>(*settings.scope)])
      throw InputError("", "scope",
                       "the profile has no scope_forward_ns of " +
                           std::string(name_in(scope_names, *settings.scope)) + " for block " +
                           std::to_string(i) + ", so what recomputing it takes is not known");
}

}  // namespace

Expansion expand(const BlockTable& table, const Settings& settings) {
  check(settings);
  check_scope_is_timed(table, settings);
  check_optimizer(settings.step, table);
  Expansion expansion;
  Plan& plan = expansion.plan;
  plan.subject = {table.profile_name, table.digest};
  plan.settings = settings;
  plan.transfer = settings.transfer;
  plan.step = settings.step;
  plan.blocks.resize(table.size());
  decide_activations(plan, table, settings);
  decide_weights(expansion, table, settings.swap);
  warn_of_no_effect(expansion, table, settings);
  return expansion;
}

}  // namespace stowage
