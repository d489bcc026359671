#include "plan/program_builder.h"

#include <algorithm>
#include <utility>

namespace stowage {

StepId ProgramBuilder::compute(StepKind kind, std::optional<std::uint32_t> block, Nanos duration, bool saves,
                               std::optional<std::uint32_t> layer, std::optional<Scope> scope) {
  program_.steps.push_back({kind, Lane::compute, block, {}, duration, {}, {}, saves, layer, scope});
  return static_cast<StepId>(program_.steps.size() - 1);
}

CopyId ProgramBuilder::copy(const Step& step, std::optional<CopyId> after) {
  copies_.push_back({step, after});
  return static_cast<CopyId>(copies_.size() - 1);
}

void ProgramBuilder::wait(StepId compute, CopyId copy) {
  waits_.push_back({compute, copy});
}

BufferId ProgramBuilder::buffer(const Buffer& buffer) {
  program_.buffers.push_back(buffer);
  program_.shares = program_.shares || buffer.holders > 1;
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

BufferId ProgramBuilder::initial(const Buffer& initial) {
  const BufferId id = buffer(initial);
  program_.initial.push_back(id);
  return id;
}

void ProgramBuilder::alloc(BufferId buffer, Trigger at) {
  effects_.push_back({at.step, false, at.edge, {buffer, true}});
}

void ProgramBuilder::free(BufferId buffer, Trigger at) {
  effects_.push_back({at.step, false, at.edge, {buffer, false}});
}

void ProgramBuilder::alloc_at_issue(BufferId buffer, CopyId copy) {
  effects_.push_back({copy, true, Edge::ready, {buffer, true}});
}

void ProgramBuilder::free_after(BufferId buffer, CopyId copy) {
  effects_.push_back({copy, true, Edge::end, {buffer, false}});
}

Program ProgramBuilder::finish(const TransferSettings& transfer) {
  finish_here(transfer);
  Program program = std::exchange(program_, {});
  clear();
  return program;
}

const Program& ProgramBuilder::finish_here(const TransferSettings& transfer) {
  sort_lanes();
  resolve_waits();
  resolve_effects();
  program_.single_stream = {true, transfer.h2d_streams == 1, transfer.d2h_streams == 1, false, false};
  program_.pinned = {transfer.max_buckets, transfer.pinned_max};
  return program_;
}

void ProgramBuilder::clear() {
  program_.steps.clear();
  program_.wait_ranges.clear();
  program_.waits.clear();
  program_.buffers.clear();
  program_.shares = false;
  program_.initial.clear();
  program_.effect_ranges.clear();
  program_.effects.clear();
  copies_.clear();
  effects_.clear();
  waits_.clear();
}

void ProgramBuilder::sort_lanes() {
  const auto compute_steps = static_cast<StepId>(program_.steps.size());
  program_.lanes[0] = {0, compute_steps};
  copy_steps_.resize(copies_.size());
  const auto issued_before = [&](CopyId a, CopyId b) {
    return copies_[a].step.issue < copies_[b].step.issue;
  };
  for (Lane lane : {Lane::h2d, Lane::d2h, Lane::disk_read, Lane::disk_write}) {
    order_.clear();
    for (CopyId copy = 0; copy < copies_.size(); ++copy)
      if (copies_[copy].step.lane == lane) order_.push_back(copy);
    if (!std::is_sorted(order_.begin(), order_.end(), issued_before))
      std::stable_sort(order_.begin(), order_.end(), issued_before);
    Range& range = program_.lanes[static_cast<int>(lane)];
    range.begin = static_cast<StepId>(program_.steps.size());
    for (CopyId copy : order_) {
      copy_steps_[copy] = static_cast<StepId>(program_.steps.size());
      program_.steps.push_back(copies_[copy].step);
    }
    range.end = static_cast<StepId>(program_.steps.size());
  }
}

// Both resolvers sort by counting: first how many each owner has, then each to its place.
void ProgramBuilder::resolve_waits() {
  for (CopyId copy = 0; copy < copies_.size(); ++copy)
    if (copies_[copy].after) waits_.push_back({copy_steps_[copy], *copies_[copy].after});
  std::vector<Range>& ranges = program_.wait_ranges;
  ranges.resize(program_.steps.size());
  for (const Wait& wait : waits_) ++ranges[wait.step].end;
  std::uint32_t total = 0;
  for (Range& range : ranges) {
    range.begin = total;
    total += range.end;
    range.end = range.begin;
  }
  program_.waits.resize(total);
  for (const Wait& wait : waits_) program_.waits[ranges[wait.step].end++] = copy_steps_[wait.copy];
}

void ProgramBuilder::resolve_effects() {
  auto& ranges = program_.effect_ranges;
  ranges.resize(program_.steps.size());
  const auto range_of = [&](const Effect& effect) -> Range& {
    const StepId step = effect.of_copy ? copy_steps_[effect.owner] : effect.owner;
    return ranges[step][static_cast<int>(effect.edge)];
  };
  for (const Effect& effect : effects_) ++range_of(effect).end;
  std::uint32_t total = 0;
  for (auto& edges : ranges) {
    for (Range& range : edges) {
      range.begin = total;
      total += range.end;
      range.end = range.begin;
    }
  }
  program_.effects.resize(total);
  for (bool allocs : {false, true})
    for (const Effect& effect : effects_)
      if (effect.what.alloc == allocs) program_.effects[range_of(effect).end++] = effect.what;
}

}  // namespace stowage
