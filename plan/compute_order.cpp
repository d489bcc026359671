#include "plan/compute_order.h"

#include "plan/optimizer_shares.h"
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

  Range optimizer() {
    const StepId first = next();
    if (plan_.step.optimizer == OptimizerPlace::host) {
      builder_.compute(StepKind::optimizer, {}, *table_.fixed.host_optimizer);
    } else if (streams_states(plan_.step.optimizer)) {
      for (const OptimizerShare& share : optimizer_shares(table_))
        builder_.compute(StepKind::optimizer, share.block, share.time);
    } else {
      builder_.compute(StepKind::optimizer, {}, table_.fixed.optimizer);
    }
    return {first, next()};
  }

 private:
  StepId next() const { return builder_.compute_steps(); }
  bool streams(std::uint32_t i) const { return plan_.blocks[i].weights == Residence::stream; }

  Range forward(std::uint32_t i) {
    const std::optional<Scope> dropped = plan_.blocks[i].scope;
    const bool saves = !recomputed(plan_, i) || dropped;
    const auto runs = [](const Layer&) { return true; };
    return layer_by_layer(StepKind::forward, i, table_.rows[i].forward, runs, saves, dropped);
  }

  Range recompute(std::uint32_t i) {
    const std::optional<Scope> scope = plan_.blocks[i].scope;
    const BlockRow& row = table_.rows[i];
    const Nanos time = scope ? *row.scope_forward[static_cast<std::size_t>(*scope)] : row.forward;
    const auto runs = [&](const Layer& layer) { return !scope || layer.scope == *scope; };
    return layer_by_layer(StepKind::recompute, i, time, runs, true, scope);
  }

  // What no layer takes of the time comes first.
  template <class Runs>
  Range layer_by_layer(StepKind kind, std::uint32_t i, Nanos time, const Runs& runs, bool saves,
                       std::optional<Scope> scope) {
    const StepId first = next();
    const std::span<const Layer> layers = streams(i) ? table_.layers_of(i) : std::span<const Layer>();
    bool any = false;
    for (const Layer& layer : layers) {
      if (!runs(layer)) continue;
      time -= layer.forward;
      any = true;
    }
    if (!any || time > Nanos{}) builder_.compute(kind, i, time, saves, {}, scope);
    for (std::uint32_t layer = 0; layer < layers.size(); ++layer)
      if (runs(layers[layer])) builder_.compute(kind, i, layers[layer].forward, saves, layer, scope);
    return {first, next()};
  }

  // The other way round.
  Range backward(std::uint32_t i) {
    const StepId first = next();
    Nanos time = table_.rows[i].backward;
    const std::span<const Layer> layers = streams(i) ? table_.layers_of(i) : std::span<const Layer>();
    for (auto layer = static_cast<std::uint32_t>(layers.size()); layer-- > 0;) {
      builder_.compute(StepKind::backward, i, layers[layer].backward, true, layer);
      time -= layers[layer].backward;
    }
    if (layers.empty() || time > Nanos{}) builder_.compute(StepKind::backward, i, time);
    return {first, next()};
  }

  // The segment, or the kept block, that ends before `end`; where it begins.
  std::uint32_t backward_of_segment(Pass& pass, std::uint32_t end) {
    std::uint32_t begin = end - 1;
    if (recomputed(plan_, begin)) {
      while (!starts_segment(plan_, begin)) --begin;
      for (std::uint32_t i = begin; i < end; ++i) pass.blocks[i].recompute = recompute(i);
    }
    for (std::uint32_t i = end; i-- > begin;) pass.blocks[i].backward = backward(i);
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
  for (std::int64_t pass = 0; pass < plan.step.accumulate; ++pass) order.passes.push_back(ordering.pass());
  order.optimizer = ordering.optimizer();
  return order;
}

}  // namespace stowage
