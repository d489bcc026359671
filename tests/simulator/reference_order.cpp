#include "tests/simulator/reference_order.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace stowage::reference {
namespace {

std::vector<Tensor> stored_once(const BlockProfile& block) {
  std::vector<Tensor> tensors;
  std::map<std::string, std::size_t> known;
  for (const SavedTensor& saved : block.saved) {
    if (saved.storage && known.contains(*saved.storage)) {
      Tensor& shared = tensors[known[*saved.storage]];
      shared.bytes = std::max(shared.bytes, saved.bytes.value);
      continue;
    }
    if (saved.storage) known[*saved.storage] = tensors.size();
    tensors.push_back({saved.bytes.value, saved.scope});
  }
  return tensors;
}

std::vector<Block> unrolled(const Profile& profile) {
  std::vector<Block> blocks;
  for (const BlockProfile& block : profile.blocks)
    for (Int copy = 0; copy < block.count; ++copy) {
      Block& added = blocks.emplace_back();
      added.profile = block;
      added.saved = stored_once(block);
    }
  return blocks;
}

// Attention starts from the block's input unless the profile says otherwise.
bool has_part_input(const Block& block) {
  if (!block.scope) return false;
  const std::size_t scope = static_cast<std::size_t>(*block.scope);
  return *block.scope != Scope::attention || block.profile.sizes.scope_input[scope].has_value();
}

void choose_segments(std::vector<Block>& blocks, bool cross_groups, const Settings& settings) {
  const Int w = settings.interval, s = settings.stride.value_or(w);
  if (w < 1 || s < w) throw std::invalid_argument("interval below 1, or stride below interval");
  const int n = static_cast<int>(blocks.size());
  const auto starts_group = [&](int i) {
    return i == 0 || (!cross_groups && blocks[i].profile.group != blocks[i - 1].profile.group);
  };
  Int place = 0;  // in the group
  for (int i = 0; i < n; ++i, ++place) {
    if (starts_group(i)) place = 0;
    Block& block = blocks[i];
    if (settings.segmenting == Segmenting::every_nth) {
      block.in_segment = settings.stride ? place % s < w : place % w == 0;
      block.first_of_segment = block.last_of_segment = block.in_segment;
    } else {
      const bool group_ends = i == n - 1 || starts_group(i + 1);
      block.in_segment = place % s < w;
      block.first_of_segment = place % s == 0;
      block.last_of_segment = block.in_segment && (place % s == w - 1 || group_ends);
    }
  }
}

void recompute(Block& block, std::optional<Scope> scope) {
  block.recomputed = true;
  block.scope = scope;
  if (scope) block.first_of_segment = block.last_of_segment = true;
  for (Tensor& tensor : block.saved) tensor.again = !scope || tensor.scope == *scope;
}

// The input of the recomputation: the scope's own where it has one, else the block's.
Int travelling_input(const Block& block) {
  return has_part_input(block) ? block.part_input() : block.profile.sizes.input.value;
}

// Nothing where the scope starts from a tensor of another one.
void send_input(Block& block) {
  if (!has_part_input(block) || block.part_input() > 0) block.offloaded.push_back(travelling_input(block));
  block.sends_input = !has_part_input(block);
}

void choose_travel(std::vector<Block>& blocks, const Settings& settings) {
  for (Block& block : blocks) {
    if (!block.in_segment) continue;
    if (settings.policy == Policy::recompute || settings.policy == Policy::recompute_offload)
      recompute(block, settings.scope);
    if (settings.policy == Policy::recompute_offload && block.first_of_segment) send_input(block);
    if (settings.policy == Policy::offload)
      for (const Tensor& tensor : block.saved)
        if (!settings.scope || tensor.scope == *settings.scope) block.offloaded.push_back(tensor.bytes);
  }
}

void choose_swapped(std::vector<Block>& blocks, const SwapSettings& swap) {
  const Int n = static_cast<Int>(blocks.size());
  const Int c = std::min(swap.blocks, swap.mode == SwapMode::stream ? n : n - 1);
  for (Int i = 0; i < c; ++i) {
    if (swap.which == SwapWhich::first) blocks[i].swapped = true;
    if (swap.which == SwapWhich::last) blocks[n - 1 - i].swapped = true;
    if (swap.which == SwapWhich::spread) blocks[i * n / c].swapped = true;
  }
  Int keep = swap.keep, room = swap.keep_max.value_or(Bytes{}).value;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    block->two_way = block->swapped && swap.mode == SwapMode::two_way;
    block->streamed = block->swapped && swap.mode == SwapMode::stream;
    for (auto layer = block->profile.layers.rbegin(); layer != block->profile.layers.rend(); ++layer) {
      if (!block->streamed || layer->weight.value == 0) continue;
      if (swap.keep_max && layer->weight.value > room) keep = 0;
      if (keep <= 0) continue;
      --keep;
      room -= layer->weight.value;
      ++block->kept;
    }
  }
}

void follow(std::vector<Block>& blocks, const Plan& plan) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    const BlockDecision& decision = plan.blocks[i];
    if (decision.activation == Activation::recompute) {
      block.first_of_segment = i == 0 || plan.blocks[i - 1].segment != decision.segment;
      block.last_of_segment = i + 1 == blocks.size() || plan.blocks[i + 1].segment != decision.segment;
      recompute(block, decision.scope);
    }
    if (decision.offload_input) send_input(block);
    for (std::uint32_t storage : decision.offload) block.offloaded.push_back(block.saved[storage].bytes);
    block.swapped = decision.weights != Residence::resident;
    block.two_way = decision.weights == Residence::two_way;
    block.streamed = decision.weights == Residence::stream;
    block.kept = decision.kept_layers;
  }
}

// The steps of one block in a row: one, or one for each streamed layer and one for what is left.
void append_block(std::vector<Step>& steps, const Block& block, Step step) {
  std::vector<Step> parts;
  const std::vector<Layer>& layers = block.profile.layers;
  for (int layer = 0; layer < static_cast<int>(layers.size()) && block.streamed; ++layer) {
    if (step.kind == Kind::recompute && block.scope && layers[layer].scope != *block.scope) continue;
    const Nanos time = step.kind == Kind::backward ? layers[layer].backward : layers[layer].forward;
    Step part = step;
    part.layer = layer;
    part.length = time.value;
    parts.push_back(part);
    step.length -= time.value;
  }
  if (parts.empty() || step.length > 0) parts.insert(parts.begin(), step);
  if (step.kind == Kind::backward) std::reverse(parts.begin(), parts.end());
  for (Step& part : parts) part.starts = part.ends = false;
  parts.front().starts = parts.back().ends = true;
  steps.insert(steps.end(), parts.begin(), parts.end());
}

void append_pass(std::vector<Step>& steps, const std::vector<Block>& blocks, const FixedCosts& fixed,
                 int pass) {
  const int n = static_cast<int>(blocks.size());
  const auto append = [&](Kind kind, int i, Int length) {
    append_block(steps, blocks[i], {kind, i, length, pass});
  };
  steps.push_back({Kind::prologue, 0, fixed.prologue.value, pass});
  for (int i = 0; i < n; ++i) append(Kind::forward, i, blocks[i].profile.times.forward.value);
  steps.push_back({Kind::epilogue, 0, fixed.epilogue.value, pass});
  for (int b = n - 1, a; b >= 0; b = a - 1) {
    a = b;
    if (blocks[b].recomputed) {
      while (!blocks[a].first_of_segment) --a;
      for (int i = a; i <= b; ++i) append(Kind::recompute, i, blocks[i].again());
    }
    for (int i = b; i >= a; --i) append(Kind::backward, i, blocks[i].profile.times.backward.value);
  }
}

// The optimizer as one step, or block by block in the proportion of gradients.
void append_optimizer(Order& order, const FixedCosts& fixed) {
  const Int time = fixed.optimizer.value, state = fixed.optimizer_state.value;
  if (order.step.optimizer == OptimizerPlace::host)
    order.steps.push_back({Kind::optimizer, -1, fixed.host_optimizer.value().value});
  if (order.step.optimizer == OptimizerPlace::device) order.steps.push_back({Kind::optimizer, -1, time});
  if (order.step.optimizer == OptimizerPlace::device || order.step.optimizer == OptimizerPlace::host) return;
  __int128 all = 0, seen = 0;
  for (const Block& block : order.blocks) all += block.profile.sizes.gradient.value;
  if (all == 0) {
    order.states.push_back({order.steps.size(), state});
    order.steps.push_back({Kind::optimizer, -1, time});
  }
  for (std::size_t i = 0; i < order.blocks.size(); ++i) {
    const Int gradient = order.blocks[i].profile.sizes.gradient.value;
    if (gradient == 0) continue;
    const auto share = [&](Int whole) {
      return static_cast<Int>(whole * (seen + gradient) / all) - static_cast<Int>(whole * seen / all);
    };
    order.states.push_back({order.steps.size(), share(state)});
    order.steps.push_back({Kind::optimizer, static_cast<int>(i), share(time)});
    seen += gradient;
  }
}

bool is_kept(const Block& block, int layer) {
  Int later = 0;
  for (std::size_t l = layer + 1; l < block.profile.layers.size(); ++l)
    later += block.profile.layers[l].weight.value > 0;
  return later < block.kept;
}

// Uses in the order in which they begin; two in a row of one block, or layer, are one.
std::vector<Use> uses_of_swapped(const std::vector<Block>& blocks, const std::vector<Step>& steps) {
  std::vector<Use> uses;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Step& step = steps[s];
    const bool of_block =
        step.kind == Kind::forward || step.kind == Kind::recompute || step.kind == Kind::backward;
    if (!of_block || !blocks[step.block].swapped) continue;
    const Block& block = blocks[step.block];
    const Int bytes = !block.streamed  ? block.profile.sizes.weight.value
                      : step.layer < 0 ? 0
                                       : block.profile.layers[step.layer].weight.value;
    if (block.streamed && bytes == 0) continue;
    const auto latest = std::find_if(uses.rbegin(), uses.rend(), [&](const Use& use) {
      return use.block == step.block && use.layer == step.layer && use.pass == step.pass;
    });
    const bool known = latest != uses.rend();
    const bool stays = block.streamed ? is_kept(block, step.layer) && step.kind != Kind::forward
                                      : step.kind == Kind::backward && block.recomputed;
    const bool in_a_row = latest == uses.rbegin();
    if (known && (stays || in_a_row))
      latest->last_step = s;
    else
      uses.push_back({step.block, step.layer, step.pass, bytes, s, s});
  }
  return uses;
}

// Restores in the order of need.
std::vector<Restore> restores_of(const std::vector<Block>& blocks, const std::vector<Step>& steps) {
  std::vector<Restore> restores;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Step& step = steps[s];
    if (step.kind != Kind::recompute && step.kind != Kind::backward) continue;
    const Block& block = blocks[step.block];
    const bool needs = step.starts && step.kind == (block.recomputed ? Kind::recompute : Kind::backward);
    if (!needs || block.offloaded.empty()) continue;
    Restore restore{step.block, step.pass, s, {}};
    for (Int bytes : block.offloaded) restore.tensors.push_back({bytes});
    restores.push_back(std::move(restore));
  }
  return restores;
}

Order ordered(std::vector<Block> blocks, const FixedCosts& fixed, const StepSettings& step) {
  Order order;
  order.blocks = std::move(blocks);
  order.step = step;
  for (int pass = 0; pass < step.accumulate; ++pass) append_pass(order.steps, order.blocks, fixed, pass);
  append_optimizer(order, fixed);
  order.uses = uses_of_swapped(order.blocks, order.steps);
  order.restores = restores_of(order.blocks, order.steps);
  return order;
}

}  // namespace

Int Block::part_input() const {
  if (!has_part_input(*this)) return 0;
  return profile.sizes.scope_input[static_cast<std::size_t>(*scope)].value_or(profile.sizes.input).value;
}

Int Block::away() const {
  if (!streamed) return swapped ? profile.sizes.weight.value : 0;
  Int bytes = 0;
  for (const Layer& layer : profile.layers) bytes += layer.weight.value;
  return bytes;
}

Int Block::again() const {
  if (!scope) return profile.times.forward.value;
  return profile.times.scope_forward.at(static_cast<std::size_t>(*scope)).value().value;
}

void choose_leaving(std::vector<Restore>& restores, Int stays) {
  for (Restore& restore : restores)
    for (std::size_t t = 0; t < restore.tensors.size(); ++t) {
      __int128 from_here = 0;
      for (std::size_t later = t; later < restore.tensors.size(); ++later)
        from_here += restore.tensors[later].bytes;
      for (const Restore& other : restores)
        if (other.pass == restore.pass && other.block > restore.block)
          for (const Traveller& tensor : other.tensors) from_here += tensor.bytes;
      restore.tensors[t].leaves = from_here > stays;
    }
}

Order order_of(const Profile& profile, const Settings& settings) {
  std::vector<Block> blocks = unrolled(profile);
  choose_segments(blocks, profile.segments_cross_groups, settings);
  choose_travel(blocks, settings);
  choose_swapped(blocks, settings.swap);
  return ordered(std::move(blocks), profile.fixed, settings.step);
}

Order order_of(const Profile& profile, const Plan& plan) {
  std::vector<Block> blocks = unrolled(profile);
  follow(blocks, plan);
  return ordered(std::move(blocks), profile.fixed, plan.step);
}

}  // namespace stowage::reference
