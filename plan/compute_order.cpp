#include "plan/compute_order.h"

#include "plan/segments.h"

namespace stowage {
namespace {

class Ordering {
 public:
  Ordering(const BlockTable& table, const Plan& plan, ProgramBuilder& builder)
      : table_(table), plan_(plan), builder_(builder) {}

  Pass pass() {
    Pass pass;
    pass.blocks.resize(table_.size());
    pass.prologue = builder_.compute(StepKind::prologue, {}, table_.fixed.prologue);
    for (std::uint32_t i = 0; i < table_.size(); ++i) pass.blocks[i].forward = forward(i);
    pass.epilogue = builder_.compute(StepKind::epilogue, {}, table_.fixed.epilogue);
    for (std::uint32_t end = table_.size(); end > 0;) end = backward_of_segment(pass, end);
    return pass;
  }

  Range optimizer() { return step(StepKind::optimizer, {}, table_.fixed.optimizer); }

 private:
  Range step(StepKind kind, std::optional<std::uint32_t> block, Nanos duration, bool saves = true) {
    const StepId id = builder_.compute(kind, block, duration, saves);
    return {id, id + 1};
  }

  Range forward(std::uint32_t i) {
    const bool saves = !recomputed(plan_, i) || plan_.blocks[i].scope;
    return step(StepKind::forward, i, table_.rows[i].forward, saves);
  }

  Range recompute(std::uint32_t i) {
    const std::optional<Scope> scope = plan_.blocks[i].scope;
    const BlockRow& row = table_.rows[i];
    return step(StepKind::recompute, i,
                scope ? *row.scope_forward[static_cast<std::size_t>(*scope)] : row.forward);
  }

  // The segment, or the kept block, that ends before `end`; where it begins.
  std::uint32_t backward_of_segment(Pass& pass, std::uint32_t end) {
    std::uint32_t begin = end - 1;
    if (recomputed(plan_, begin)) {
      while (!starts_segment(plan_, begin)) --begin;
      for (std::uint32_t i = begin; i < end; ++i) pass.blocks[i].recompute = recompute(i);
    }
    for (std::uint32_t i = end; i-- > begin;)
      pass.blocks[i].backward = step(StepKind::backward, i, table_.rows[i].backward);
    return begin;
  }

  const BlockTable& table_;
  const Plan& plan_;
  ProgramBuilder& builder_;
};

}  // namespace

ComputeOrder order_compute(const BlockTable& table, const Plan& plan, ProgramBuilder& builder) {
  Ordering ordering(table, plan, builder);
  ComputeOrder order;
  order.passes.push_back(ordering.pass());
  order.optimizer = ordering.optimizer();
  return order;
}

}  // namespace stowage
