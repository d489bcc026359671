#include <algorithm>

#include "plan/names.h"
#include "plan/plan.h"
#include "plan/segments.h"
#include "traces/error.h"

namespace stowage {
namespace {

[[noreturn]] void refuse(std::size_t block, const char* key, const std::string& reason) {
  throw InputError("", "blocks[" + std::to_string(block) + "]." + key, reason);
}

void check_scope(const BlockDecision& block, const BlockRow& row, std::size_t i) {
  if (block.segment) refuse(i, "segment", "a block that recomputes a scope is a segment of its own");
  if (row.scope_forward[static_cast<std::size_t>(*block.scope)]) return;
  refuse(i, "scope",
         "the profile has no scope_forward_ns of " + std::string(name_in(scope_names, *block.scope)) +
             " for this block");
}

void check_segment(const Plan& plan, const BlockTable& table, std::size_t i) {
  const BlockDecision& block = plan.blocks[i];
  if (block.activation == Activation::keep) {
    if (block.scope) refuse(i, "scope", "only a recomputed block recomputes a scope");
    if (block.segment) refuse(i, "segment", "only a recomputed block belongs to a segment");
    if (block.offload_input)
      refuse(i, "offload_input", "only what a recomputation starts from is offloaded as an input");
    return;
  }
  if (block.scope) return check_scope(block, table.rows[i], i);
  if (!block.segment) refuse(i, "segment", "a block that is recomputed whole belongs to a segment");
  const bool continues = i > 0 && plan.blocks[i - 1].segment == block.segment;
  if (!continues) return;
  if (block.offload_input) refuse(i, "offload_input", "not the first block of its segment");
  if (table.rows[i].group != table.rows[i - 1].group)
    refuse(i, "segment", "crosses from one group to the next");
}

void check_offload(const Plan& plan, const BlockTable& table, std::size_t i) {
  const std::vector<std::uint32_t>& offload = plan.blocks[i].offload;
  const auto storages = table.storages_of(static_cast<std::uint32_t>(i));
  for (std::size_t k = 0; k < offload.size(); ++k) {
    if (offload[k] >= storages.size())
      refuse(i, "offload",
             "storage " + std::to_string(offload[k]) + " of " + std::to_string(storages.size()));
    if (storages[offload[k]].stays)
      refuse(i, "offload", "storage " + std::to_string(offload[k]) + " stays, says the profile");
    if (drops(plan.blocks[i], storages[offload[k]]))
      refuse(i, "offload", "what is recomputed is not saved, and cannot be offloaded");
    if (k > 0 && offload[k] <= offload[k - 1]) refuse(i, "offload", "must be ascending, each once");
  }
}

void check_weights(const Plan& plan, const BlockTable& table, std::size_t i) {
  const BlockDecision& block = plan.blocks[i];
  const std::uint32_t layers = streamed_layers(table, static_cast<std::uint32_t>(i));
  if (block.weights == Residence::stream && layers == 0)
    refuse(i, "weights", "the profile lists no layers of this block whose weights could stream");
  if (block.weights != Residence::stream && block.kept_layers > 0)
    refuse(i, "kept_layers", "only layers whose weights stream are kept");
  if (block.kept_layers > layers)
    refuse(i, "kept_layers", std::to_string(block.kept_layers) + " of " + std::to_string(layers));
}

void check_segments_are_runs(const Plan& plan) {
  std::vector<std::uint32_t> seen;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const auto& segment = plan.blocks[i].segment;
    if (!segment || (i > 0 && plan.blocks[i - 1].segment == segment)) continue;
    seen.push_back(*segment);
  }
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end())
    throw InputError("", "blocks", "segment " + std::to_string(*twice) + " is not one run of blocks");
}

}  // namespace

void check_optimizer(const StepSettings& step, const BlockTable& table) {
  if (step.optimizer == OptimizerPlace::host && !table.fixed.host_optimizer)
    throw InputError(
        "", "optimizer",
        "the profile has no fixed.host_optimizer_ns, so what a step on the host takes is not known");
}

void check(const Plan& plan, const BlockTable& table) {
  if (plan.subject.digest != table.digest)
    throw InputError("", "subject",
                     "a plan for another profile: \"" + plan.subject.profile + "\" (" + plan.subject.digest +
                         "), expected \"" + table.profile_name + "\" (" + table.digest + ")");
  if (plan.blocks.size() != table.size())
    throw InputError(
        "", "blocks",
        std::to_string(plan.blocks.size()) + " blocks, the profile has " + std::to_string(table.size()));
  Settings whole_step;
  whole_step.transfer = plan.transfer;
  whole_step.step = plan.step;
  check(whole_step);
  check_optimizer(plan.step, table);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    check_segment(plan, table, i);
    check_offload(plan, table, i);
    check_weights(plan, table, i);
  }
  check_segments_are_runs(plan);
}

}  // namespace stowage
