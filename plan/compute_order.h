// The compute lane of a plan: its steps in order, and which of them are whose.
#pragma once

#include <optional>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "plan/program_builder.h"
#include "plan/range.h"

namespace stowage {

// The compute steps of one block in one pass: one each, or one for each layer where weights stream.
struct BlockSteps {
  Range forward, backward;
  std::optional<Range> recompute;

  // The first step of the backward pass that needs what the forward pass left.
  StepId resumes() const { return recompute ? recompute->begin : backward.begin; }
};

// Forward through the chain and back: a micro-batch.
struct Pass {
  StepId prologue = 0, epilogue = 0;
  std::vector<BlockSteps> blocks;
};

struct ComputeOrder {
  std::vector<Pass> passes;
  Range optimizer;
};

// Appends every compute step to the builder. Cost: linear in the steps.
ComputeOrder order_compute(const BlockTable& table, const Plan& plan, ProgramBuilder& builder);

}  // namespace stowage
