// A plan on its way to a program: what the parts of compile() share, and those parts.
#pragma once

#include <cstddef>

#include "plan/block_table.h"
#include "plan/compute_order.h"
#include "plan/plan.h"
#include "plan/program_builder.h"

namespace stowage {

struct Layout {
  Layout(const BlockTable& table, const Plan& plan, ProgramBuilder& builder)
      : table(table), plan(plan), builder(builder), order(order_compute(table, plan, builder)) {}

  const BlockTable& table;
  const Plan& plan;
  ProgramBuilder& builder;
  ComputeOrder order;

  // Copy k of a sequence is issued when the step that needs copy k-prefetch begins, or so many times
  // prefetch; the first ones at `start`.
  template <class NeededBy>
  Trigger issue_of(std::size_t k, Trigger start, NeededBy needed_by, std::uint64_t times = 1) const {
    const std::uint64_t ahead = times * static_cast<std::uint64_t>(plan.transfer.prefetch);
    if (ahead == 0) return {needed_by(k), Edge::ready};
    return k < ahead ? start : Trigger{needed_by(k - ahead), Edge::begin};
  }

  // A device buffer that lives as long as these steps.
  void within(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes);
  // A device buffer that these steps allocate when they begin; who frees it is said elsewhere.
  BufferId made_by(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes, std::uint32_t holders = 1);
  // The same, but they allocate it only as they end.
  BufferId made_late_by(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes);
};

inline Trigger begin_of(Range steps) {
  return {steps.begin, Edge::begin};
}
inline Trigger end_of(Range steps) {
  return {steps.end - 1, Edge::end};
}
inline Range only(StepId step) {
  return {step, step + 1};
}

// Where weights live, and the copies that swap them.
void place_weights(Layout& layout);
// What one pass allocates, and what it sends to the host and brings back; but for gradients of parameters.
void place_pass(Layout& layout, const Pass& pass);
// Gradients of parameters and optimizer states, and what travels for the optimizer.
void place_optimizer(Layout& layout);

}  // namespace stowage
