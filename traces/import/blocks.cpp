#include "traces/import/blocks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "traces/import/call_tree.h"
#include "traces/import/characters.h"
#include "traces/import/name_pattern.h"
#include "traces/import/operator_blocks.h"
#include "traces/import/steps.h"

namespace stowage {
namespace {

// What frameworks put there themselves, and what names a part of the run instead of the model.
bool is_no_block(std::string_view name) {
  static constexpr std::array prefixes = {"ProfilerStep", "Optimizer.",      "nccl:",      "gloo:",
                                          "mpi:",         "DistributedData", "enumerate(", "record_param",
                                          "FullyShard",   "Torch-Compiled"};
  static constexpr std::array words = {"step",  "Step",  "iter",  "Iter",   "epoch",
                                       "Epoch", "batch", "Batch", "all2all"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); }) ||
         std::any_of(words.begin(), words.end(), [&](const char* word) { return contains(name, word); });
}

Blocks by_annotations(const KinetoTrace& trace, const HostOrder& order) {
  const CallTree tree(trace, order, [&](const HostSpan& span) {
    if (span.kind != HostKind::annotation) return false;
    const std::string& name = trace.names.text(span.name);
    return !is_no_block(name) && kind_name(name) != name;
  });
  return tree.blocks_of(block_kinds(tree.calls(), true));
}

Blocks by_modules(const KinetoTrace& trace, const HostOrder& order) {
  const CallTree tree(trace, order, [](const HostSpan& span) { return span.kind == HostKind::module; });
  std::vector<std::uint32_t> kinds = block_kinds(tree.calls(), false);
  if (kinds.empty()) kinds = block_kinds(tree.calls(), true);
  return tree.blocks_of(kinds);
}

Blocks by_pattern(const KinetoTrace& trace, const HostOrder& order, const std::string& pattern) {
  const NamePattern expression(pattern, "--blocks");
  std::vector<bool> matches(trace.names.size());
  for (NameTable::Id id = 0; id < matches.size(); ++id)
    matches[id] = expression.found_in(trace.names.text(id));
  return CallTree(
             trace, order,
             [&](const HostSpan& span) { return matches[span.name] && span.kind != HostKind::backward_node; })
      .all();
}

}  // namespace

const char* name_of(FoundBy how) {
  static constexpr const char* names[] = {"pattern",   "annotations", "modules",
                                          "operators", "frames",      "nothing"};
  return names[static_cast<int>(how)];
}

std::vector<bool> inside_backward(const HostOrder& order) {
  std::vector<bool> inside(order.size());
  for (HostIndex index = 0; index < order.size(); ++index) {
    const auto parent = order.parent(index);
    inside[index] = order[index].kind == HostKind::backward_node || (parent && inside[*parent]);
  }
  return inside;
}

Blocks find_blocks(const KinetoTrace& trace, const HostOrder& order,
                   const std::optional<std::string>& pattern) {
  Blocks blocks;
  const std::size_t steps = std::max<std::size_t>(marked_steps(trace).size(), 1);
  const auto accept = [&](FoundBy how, Blocks found) {
    // No recording has more passes over a model: these names number something else.
    constexpr std::size_t most_passes = 1'000'000;
    const std::size_t count = found.names.size();
    blocks = count > most_blocks || count * steps > most_passes ? Blocks{} : std::move(found);
    blocks.how = blocks.names.empty() ? FoundBy::nothing : how;
    return !blocks.names.empty();
  };
  if (pattern) {
    accept(FoundBy::pattern, by_pattern(trace, order, *pattern));
  } else if (!accept(FoundBy::annotations, by_annotations(trace, order)) &&
             !accept(FoundBy::modules, by_modules(trace, order))) {
    accept(FoundBy::operators, operator_blocks(trace, order));
  }
  return blocks;
}

}  // namespace stowage
